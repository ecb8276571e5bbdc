/* own_memory.h: reads of this process's memory that cannot fault.
 *
 * For memory that was laid out by others and may not be what it seems: the kernel copies it
 * and tells where it cannot.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_OWN_MEMORY_H
#define ML_OWN_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Copies what is readable of `bytes` bytes from `from` on. Where the kernel refuses the call,
 * memory is taken to be readable; in a sandbox, where the call is not made, it is not read.
 * @return how many bytes are in `copy`. Changes errno. */
size_t ml_own_memory_read(uintptr_t from, void *copy, size_t bytes);

#endif
