/* passed_tensors.h: the functions of PyTorch's allocators, as C sees them, and their pool.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PASSED_TENSORS_H
#define PASSED_TENSORS_H

#include <stddef.h>
#include <stdint.h>

#define EXPORTED __attribute__((visibility("default")))

/* c10::alloc_cpu and c10::free_cpu. The double takes blocks from these functions. */
EXPORTED extern void *(*host_take)(void);
EXPORTED extern void (*host_give_back)(void *);
EXPORTED void *alloc_cpu(size_t bytes) __asm__("_ZN3c109alloc_cpuEm");
EXPORTED void free_cpu(void *p) __asm__("_ZN3c108free_cpuEPv");

#endif
