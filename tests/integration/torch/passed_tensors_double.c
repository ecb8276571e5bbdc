/* passed_tensors_double.c: a test double of PyTorch's allocators, whose blocks are made up.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "passed_tensors.h"
#include "python_stacks/c10_double.h"

void *(*host_take)(void);
void (*host_give_back)(void *);

void *alloc_cpu(size_t bytes)
{
    (void)bytes;
    return host_take();
}

void free_cpu(void *p)
{
    host_give_back(p);
}

void report(void *p, int64_t bytes, uint64_t allocated, uint64_t reserved, uint16_t device)
{
    (void)p, (void)bytes, (void)allocated, (void)reserved, (void)device;
}
