/* c10_double.c: a test double of the PyTorch functions that python_asks.c calls; they do
 * nothing. With it, Python stacks are tested with interpreters for which there is no PyTorch.
 * The recorder finds it by its name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "c10_double.h"

void report(void *p, int64_t bytes, uint64_t allocated, uint64_t reserved, uint16_t device)
{
    (void)p, (void)bytes, (void)allocated, (void)reserved, (void)device;
}
