/* cuda_device.c: the driver's calls, with error messages.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cuda_device.h"

#include "cuda_compile.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCK_THREADS = 256 };

static cuda_address address_of(const void *data)
{
    return (cuda_address)(uintptr_t)data;
}

/* Prints what failed, on what; 0 on success. */
static int told(const struct cuda *cuda, cuda_result result, const char *call, const char *what)
{
    if (result == CUDA_OK)
        return 0;
    fprintf(stderr, "vgg19: %s of %s: %s\n", call, what, cuda_error_name(&cuda->driver, result));
    return result == CUDA_OUT_OF_MEMORY ? -ENOMEM : -EIO;
}

static int count_devices(const struct cuda *cuda)
{
    cuda_result result = cuda->driver.cuInit(0);
    int count = 0;

    if (result == CUDA_OK)
        result = cuda->driver.cuDeviceGetCount(&count);
    if (result != CUDA_OK)
        fprintf(stderr, "vgg19: no CUDA device: cuInit: %s\n",
                cuda_error_name(&cuda->driver, result));
    else if (!count)
        fputs("vgg19: no CUDA device: the driver knows none; is CUDA_VISIBLE_DEVICES set?\n",
              stderr);
    return count;
}

int cuda_open_device(struct cuda *cuda)
{
    const struct cuda_driver *driver = &cuda->driver;
    int major = 0, minor = 0;

    if (count_devices(cuda) < 1)
        return -ENODEV;
    if (told(cuda, driver->cuDeviceGet(&cuda->device, 0), "cuDeviceGet", "device 0") ||
        told(cuda, driver->cuDeviceGetName(cuda->name, sizeof(cuda->name), cuda->device),
             "cuDeviceGetName", "device 0") ||
        told(cuda, driver->cuDeviceGetAttribute(&major, CUDA_CAPABILITY_MAJOR, cuda->device),
             "cuDeviceGetAttribute", "device 0") ||
        told(cuda, driver->cuDeviceGetAttribute(&minor, CUDA_CAPABILITY_MINOR, cuda->device),
             "cuDeviceGetAttribute", "device 0"))
        return -ENODEV;
    cuda->capability = 10 * major + minor;
    if (told(cuda, driver->cuDevicePrimaryCtxRetain(&cuda->context, cuda->device),
             "cuDevicePrimaryCtxRetain", cuda->name) ||
        told(cuda, driver->cuCtxSetCurrent(cuda->context), "cuCtxSetCurrent", cuda->name))
        return -ENODEV;
    return 0;
}

int cuda_load_kernels(struct cuda *cuda, const void *image)
{
    int rc = told(cuda, cuda->driver.cuModuleLoadData(&cuda->module, image), "cuModuleLoadData",
                  "the kernels");

    return rc ? -ENODEV : 0;
}

int cuda_open(struct cuda *cuda, const char *folder)
{
    void *image = NULL;
    int rc;

    *cuda = (struct cuda){0};
    rc = cuda_driver_load(&cuda->driver);
    if (!rc)
        rc = cuda_open_device(cuda);
    if (!rc)
        rc = cuda_compile(cuda_kernels_text, cuda->capability, folder, &image);
    if (!rc)
        rc = cuda_load_kernels(cuda, image);
    free(image);
    return rc;
}

void cuda_close(struct cuda *cuda)
{
    if (cuda->module)
        cuda->driver.cuModuleUnload(cuda->module);
    if (cuda->context)
        cuda->driver.cuDevicePrimaryCtxRelease_v2(cuda->device);
    cuda->module = NULL;
    cuda->context = NULL;
}

static int device_get(void *context, size_t bytes, void **ret)
{
    struct cuda *cuda = context;
    cuda_address address = 0;
    int rc = told(cuda, cuda->driver.cuMemAlloc_v2(&address, bytes), "cuMemAlloc", cuda->name);

    if (!rc)
        *ret = (void *)(uintptr_t)address;
    return rc;
}

static void device_give_back(void *context, void *data)
{
    struct cuda *cuda = context;

    told(cuda, cuda->driver.cuMemFree_v2(address_of(data)), "cuMemFree", cuda->name);
}

struct memory cuda_memory(struct cuda *cuda)
{
    return (struct memory){
        .device = "cuda:0",
        .context = cuda,
        .get = device_get,
        .give_back = device_give_back,
    };
}

int cuda_wait(struct cuda *cuda, const char *what)
{
    return told(cuda, cuda->driver.cuCtxSynchronize(), "cuCtxSynchronize", what);
}

int cuda_launch(struct cuda *cuda, const char *kernel, size_t threads, const void *args)
{
    const struct cuda_driver *driver = &cuda->driver;
    unsigned blocks = (unsigned)((threads + BLOCK_THREADS - 1) / BLOCK_THREADS);
    void *list[] = {(void *)(uintptr_t)args};
    cuda_handle function;
    int rc = told(cuda, driver->cuModuleGetFunction(&function, cuda->module, kernel),
                  "cuModuleGetFunction", kernel);

    if (!rc)
        rc = told(cuda,
                  driver->cuLaunchKernel(function, blocks, 1, 1, BLOCK_THREADS, 1, 1, 0, NULL, list,
                                         NULL),
                  "cuLaunchKernel", kernel);
    /* Errors of the kernel itself are reported here, with its name. */
    return rc ? rc : cuda_wait(cuda, kernel);
}

int cuda_set_table(struct cuda *cuda, const char *table, const float *values, size_t count)
{
    const struct cuda_driver *driver = &cuda->driver;
    cuda_address address = 0;
    size_t bytes = 0;
    int rc = told(cuda, driver->cuModuleGetGlobal_v2(&address, &bytes, cuda->module, table),
                  "cuModuleGetGlobal", table);

    if (!rc)
        rc = told(cuda, driver->cuMemcpyHtoD_v2(address, values, count * sizeof(float)),
                  "cuMemcpyHtoD", table);
    return rc;
}

int cuda_upload(struct cuda *cuda, float *to, const float *from, size_t bytes)
{
    return told(cuda, cuda->driver.cuMemcpyHtoD_v2(address_of(to), from, bytes), "cuMemcpyHtoD",
                "an activation");
}

int cuda_download(struct cuda *cuda, float *to, const float *from, size_t bytes)
{
    return told(cuda, cuda->driver.cuMemcpyDtoH_v2(to, address_of(from), bytes), "cuMemcpyDtoH",
                "an activation");
}
