/* heap_boot.h: memory for calls that come before the real allocator is known: while it is being
 * looked up, and while the loader has not yet relocated this library but calls functions of others
 * (an indirect function's resolver). Until then neither thread-local variables, errno among them,
 * nor functions of other libraries can be used.
 *
 * A fixed block, handed out from front to back and never reused. The hooks recognise its pointers
 * as long as the process runs.
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

/* Whether the loader has relocated this library. */
bool ml_boot_is_relocated(void);

/* Zeroed memory; `align` is a power of two. NULL and ENOMEM when the block is used up. Any thread,
 * any signal handler, at any time. */
void *ml_boot_alloc(size_t align, size_t bytes);

/* Copies the first bytes of a piece, at most all of it. Any time. Precondition: ml_boot_owns(p). */
void ml_boot_copy(void *to, const void *p, size_t bytes);

#endif
