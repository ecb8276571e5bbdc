/* torch_helpers.h: threads of PyTorch that work for others: those of a parallel region (OpenMP),
 * and those that run the collectives of gloo. They call no modules and run no nodes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TORCH_HELPERS_H
#define ML_TORCH_HELPERS_H

#include <stdint.h>

/* Looks up the function of PyTorch that it needs. Precondition: PyTorch is loaded. Call it once. */
void ml_torch_helpers_begin(void);

/* Around the record of an allocation on the host. If this thread works in a parallel region of
 * another thread, the allocation gets that thread's scope; if it runs collectives, a label.
 * Precondition: the thread has never been in a scope (ml_torch_was_in_scope), otherwise it is one
 * of the program, or of autograd. */
void ml_torch_before_help(void);
void ml_torch_after_help(uint32_t space, const void *ptr);

#endif
