/* heap_boot.h: memory for calls that come in before the real allocator is known:
 * while it is still being looked up, and while the loader has not yet relocated
 * this library but calls functions of others (an indirect function's resolver).
 * Until then neither variables of a thread, errno among them, nor functions of
 * other libraries can be used.
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

/* Whether the loader has relocated this library. */
bool ml_boot_is_relocated(void);

/* Zeroed memory; `align` is a power of two. NULL and ENOMEM when there is no
 * more. Any thread, any signal handler, at any time. */
void *ml_boot_alloc(size_t align, size_t bytes);

/* Copies the first bytes of a piece, all of it if it has no more. Any time.
 * Precondition: ml_boot_owns(p). */
void ml_boot_copy(void *to, const void *p, size_t bytes);

#endif
