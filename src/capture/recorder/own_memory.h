/* own_memory.h: reads of this process's memory that cannot fault.
 *
 * For memory with an assumed layout that may be wrong: the kernel copies it and reports where it
 * cannot.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_OWN_MEMORY_H
#define ML_OWN_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Copies the readable part of `bytes` bytes at `from`.
 * @return the number of bytes in `copy`; -1 if the kernel refuses the call, or in a sandbox, where
 *         no call is made. Changes errno. */
long ml_own_memory_read(uintptr_t from, void *copy, size_t bytes);

#endif
