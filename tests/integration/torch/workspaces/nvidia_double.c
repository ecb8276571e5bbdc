/* nvidia_double.c: test doubles of functions that take a workspace, with a version as in NVIDIA's
 * libraries. Each returns the sum of its arguments, so that a lost one shows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "nvidia_double.h"

int cublasSetWorkspace_v2(long handle, const void *workspace, long bytes)
{
    return (int)(handle + (workspace != 0) + bytes);
}

int cublasLtMatmul(long handle, long matmul, long alpha, long a, long a_shape, long b, long b_shape,
                   long beta, long c, long c_shape, long d, long d_shape, long algorithm,
                   const void *workspace, long bytes, long stream)
{
    return (int)(handle + matmul + alpha + a + a_shape + b + b_shape + beta + c + c_shape + d +
                 d_shape + algorithm + (workspace != 0) + bytes + stream);
}

int cudnnBackendSetAttribute(long descriptor, int name, int type, long count, const void *elements)
{
    return (int)(descriptor + name + type + count + (elements != 0));
}

int cudnnSetDropoutDescriptor(long descriptor, long handle, float dropout, const void *states,
                              long bytes, unsigned long long seed)
{
    return (int)(descriptor + handle + (long)(100 * dropout) + (states != 0) + bytes + (long)seed);
}
