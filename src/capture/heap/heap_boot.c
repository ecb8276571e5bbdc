/* heap_boot.c: the block that heap_boot.h describes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "heap_boot.h"

#include <errno.h>
#include <stdalign.h>
#include <stdatomic.h>

#define ALIGN 16

/* Precedes each piece. */
struct head {
    alignas(ALIGN) size_t bytes;
};

alignas(ALIGN) char ml_boot_memory[ML_BOOT_BYTES];

/* The loader fills in the address. */
bool ml_boot_is_relocated(void)
{
    static char *const volatile own_address = ml_boot_memory;

    return own_address;
}

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
    if (ml_boot_is_relocated())
        errno = ENOMEM;
    return NULL;
}

/* Volatile, so that compilers do not turn the loop into a call of memcpy. */
void ml_boot_copy(void *to, const void *p, size_t bytes)
{
    const struct head *head = (const struct head *)p - 1;
    volatile char *out = to;

    for (size_t i = 0; i < bytes && i < head->bytes; i++)
        out[i] = ((const char *)p)[i];
}
