/* torch_cuda_double.h: see torch_cuda_double.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TORCH_CUDA_DOUBLE_H
#define TORCH_CUDA_DOUBLE_H

/* @return the sum of all results */
__attribute__((visibility("default"))) int use_workspaces(void);

#endif
