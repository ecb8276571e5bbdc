/* cuda_stubs.c: a library with a function for each of the driver's names that it
 * calls, which loads the driver when first called; as made by Implib.so, and as
 * TensorFlow has them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda_work.h"

#define EXPORTED __attribute__((visibility("default")))

EXPORTED void work_of_stubs(void);

/* @return -1 where there is no driver */
#define STUB(name, parameters, ...)                                                                \
    EXPORTED int name parameters;                                                                  \
    int name parameters                                                                            \
    {                                                                                              \
        static int(*real) parameters;                                                              \
        void *driver = real ? NULL : dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);                \
                                                                                                   \
        if (driver)                                                                                \
            *(void **)&real = dlsym(driver, #name);                                                \
        return real ? real(__VA_ARGS__) : -1;                                                      \
    }

STUB(cuInit, (unsigned flags), flags)
STUB(cuDevicePrimaryCtxRetain, (void **context, int device), context, device)
STUB(cuDevicePrimaryCtxRelease_v2, (int device), device)
STUB(cuCtxSetCurrent, (void *context), context)
STUB(cuMemAlloc_v2, (uint64_t * at, size_t bytes), at, bytes)
STUB(cuMemAllocPitch_v2,
     (uint64_t * at, size_t *pitch, size_t width, size_t height, unsigned element), at, pitch,
     width, height, element)
STUB(cuMemFree_v2, (uint64_t at), at)

void work_of_stubs(void)
{
    const struct driver d = {cuInit,
                             cuDevicePrimaryCtxRetain,
                             cuDevicePrimaryCtxRelease_v2,
                             cuCtxSetCurrent,
                             cuMemAlloc_v2,
                             cuMemAllocPitch_v2,
                             cuMemFree_v2};

    printf("init %d\n", d.init(0));
    work(&d);
}
