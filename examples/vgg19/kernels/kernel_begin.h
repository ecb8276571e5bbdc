/* kernel_begin.h: the macros that the kernels use, for the GPU. The test that runs them on the
 * host defines its own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define KERNEL extern "C" __global__ void
#define HELPER static __device__
#define TABLE __constant__ float

HELPER unsigned long thread_index(void)
{
    return (unsigned long)blockIdx.x * blockDim.x + threadIdx.x;
}
