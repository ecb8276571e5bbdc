/* cuda_linked.c: a program that is linked with the driver.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda_work.h"

int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(void **ret, int device);
int cuDevicePrimaryCtxRelease_v2(int device);
int cuCtxSetCurrent(void *context);
int cuMemAlloc_v2(uint64_t *ret, size_t bytes);
int cuMemAllocPitch_v2(uint64_t *ret, size_t *ret_pitch, size_t width, size_t height, unsigned el);
int cuMemFree_v2(uint64_t at);

/* Calls, not addresses: these go through slots that may not be resolved yet. */
static int alloc(uint64_t *ret, size_t bytes)
{
    return cuMemAlloc_v2(ret, bytes);
}

static int release(uint64_t at)
{
    return cuMemFree_v2(at);
}

int main(void)
{
    struct driver d = {cuInit,
                       cuDevicePrimaryCtxRetain,
                       cuDevicePrimaryCtxRelease_v2,
                       cuCtxSetCurrent,
                       alloc,
                       cuMemAllocPitch_v2,
                       release};

    printf("init %d\n", cuInit(0));
    work(&d);
    return 0;
}
