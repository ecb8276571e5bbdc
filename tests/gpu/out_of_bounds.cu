// out_of_bounds.cu: one write past the end of an allocation, for compute-sanitizer
// to find.
//
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

__global__ void write_behind(int *p, int n)
{
    p[n] = 1;
}

int main()
{
    int *p;

    cudaMalloc(&p, 64 * sizeof(int));
    write_behind<<<1, 1>>>(p, 64 + 1024 * 1024);
    std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    cudaFree(p);
    return 0;
}
