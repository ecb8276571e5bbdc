/* nvidia_double.h: see nvidia_double.c. Numbers stand for all arguments but the workspace.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef NVIDIA_DOUBLE_H
#define NVIDIA_DOUBLE_H

#pragma GCC visibility push(default)

int cublasSetWorkspace_v2(long handle, const void *workspace, long bytes);
int cublasLtMatmul(long handle, long matmul, long alpha, long a, long a_shape, long b, long b_shape,
                   long beta, long c, long c_shape, long d, long d_shape, long algorithm,
                   const void *workspace, long bytes, long stream);
int cudnnBackendSetAttribute(long descriptor, int name, int type, long count, const void *elements);
int cudnnSetDropoutDescriptor(long descriptor, long handle, float dropout, const void *states,
                              long bytes, unsigned long long seed);

#pragma GCC visibility pop

#endif
