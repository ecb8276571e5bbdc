/* heap_boot.c: the block that heap_boot.h describes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "heap_boot.h"

#include <errno.h>
#include <stdalign.h>
#include <stdatomic.h>

#define ALIGN 16

/* Before each piece. */
struct head {
    alignas(ALIGN) size_t bytes;
};

alignas(ALIGN) char ml_boot_memory[ML_BOOT_BYTES];

void *ml_boot_alloc(size_t align, size_t bytes)
{
    static _Atomic size_t used;
    struct head *head;
    uintptr_t at;
    size_t room;

    if (align < ALIGN)
        align = ALIGN;
    room = sizeof(*head) + align + bytes;
    if (align > ML_BOOT_BYTES || bytes > ML_BOOT_BYTES || room > ML_BOOT_BYTES - used)
        goto full;
    room = (room + ALIGN - 1) / ALIGN * ALIGN;
    at = atomic_fetch_add_explicit(&used, room, memory_order_relaxed);
    if (at + room > ML_BOOT_BYTES)
        goto full;
    at += (uintptr_t)ml_boot_memory + sizeof(*head);
    at = (at + align - 1) & ~(align - 1);
    head = (struct head *)at - 1;
    head->bytes = bytes;
    return (void *)at;
full:
    errno = ENOMEM;
    return NULL;
}

size_t ml_boot_bytes(const void *p)
{
    return ((const struct head *)p - 1)->bytes;
}
