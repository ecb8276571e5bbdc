/* kernel_begin.h: the words that the kernels are written in, for the GPU. The
 * test that runs them on the host has its own.
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
