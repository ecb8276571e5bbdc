/* heap_boot.h: memory for calls that come in while the real allocator is still
 * being looked up: dlsym itself may ask for some.
 *
 * A fixed block, handed out from front to back and never taken back. The hooks
 * recognise its pointers for as long as the process lives.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_HEAP_BOOT_H
#define ML_HEAP_BOOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ML_BOOT_BYTES (64u << 10)

extern char ml_boot_memory[ML_BOOT_BYTES];

static inline bool ml_boot_owns(const void *p)
{
    return (uintptr_t)p - (uintptr_t)ml_boot_memory < ML_BOOT_BYTES;
}

/* Zeroed memory; `align` is a power of two. NULL and ENOMEM when there is no
 * more. Any thread, any signal handler. */
void *ml_boot_alloc(size_t align, size_t bytes);

/* Precondition: ml_boot_owns(p). */
size_t ml_boot_bytes(const void *p);

#endif
