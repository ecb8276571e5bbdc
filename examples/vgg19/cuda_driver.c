/* cuda_driver.c: finds the driver and its entry points.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda_driver.h"
#include "cuda_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>

#define DRIVER_LIBRARY "libcuda.so.1"

int cuda_driver_load(struct cuda_driver *ret)
{
    void *library = dlopen(DRIVER_LIBRARY, RTLD_NOW | RTLD_GLOBAL);
    const struct cuda_symbol symbols[] = {
#define X(type, name, parameters) {#name, (void **)&ret->name},
        CUDA_DRIVER_ENTRIES(X)
#undef X
    };

    if (!library) {
        fprintf(stderr,
                "vgg19: no CUDA device: %s\n"
                "vgg19: --device cuda needs NVIDIA's driver; --device cpu needs nothing\n",
                dlerror());
        return -ENODEV;
    }
    return cuda_library_symbols(library, DRIVER_LIBRARY, symbols,
                                sizeof(symbols) / sizeof(symbols[0]));
}

const char *cuda_error_name(const struct cuda_driver *driver, cuda_result result)
{
    const char *name;

    if (driver->cuGetErrorName(result, &name) != CUDA_OK || !name)
        return "an error the driver has no name for";
    return name;
}
