/* misuse.c: uses the CUDA driver wrongly and prints its results.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdint.h>
#include <stdio.h>

/* The few entry points of the driver that are needed here. */
int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxSetCurrent(void *context);
int cuMemAlloc_v2(uint64_t *address, size_t bytes);
int cuMemFree_v2(uint64_t address);
int cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags);
int cuMemFreeHost(void *pointer);
int cuMemHostUnregister(void *pointer);
int cuMemAllocAsync(uint64_t *address, size_t bytes, void *stream);
int cuMemFreeAsync(uint64_t address, void *stream);
int cuMemUnmap(uint64_t address, size_t bytes);
int cuModuleLoadData(void **module, const void *image);

#define SAY(call) printf("%-46s %d\n", #call, call)

int main(void)
{
    uint64_t a = 0, b = 0;
    void *context, *p = 0, *module;

    SAY(cuMemAlloc_v2(&a, 1 << 20)); /* before cuInit */
    SAY(cuInit(0));
    SAY(cuMemAlloc_v2(&a, 1 << 20)); /* without a context */
    SAY(cuDevicePrimaryCtxRetain(&context, 0));
    SAY(cuCtxSetCurrent(context));
    SAY(cuMemAlloc_v2(&a, 1 << 20));
    SAY(cuMemFree_v2(a));
    SAY(cuMemFree_v2(a));
    SAY(cuMemFree_v2(0));
    SAY(cuMemFree_v2(0xdead0000));
    SAY(cuMemAlloc_v2(&a, 0));
    SAY(cuMemAlloc_v2(&a, (size_t)1 << 50));
    SAY(cuMemAlloc_v2(NULL, 1 << 20));
    SAY(cuMemHostAlloc(&p, 1 << 20, 0));
    SAY(cuMemFreeHost(p));
    SAY(cuMemFreeHost(p));
    SAY(cuMemHostUnregister(&a));
    SAY(cuMemAllocAsync(&b, 1 << 20, NULL));
    SAY(cuMemFreeAsync(b, NULL));
    SAY(cuMemFreeAsync(b, NULL));
    SAY(cuMemAllocAsync(&b, (size_t)1 << 50, NULL));
    SAY(cuMemUnmap(0x10000000, 2 << 20));
    SAY(cuModuleLoadData(&module, "not a module"));
    return 0;
}
