/* emulated_driver.c: host memory and plain calls behind the driver's names.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "emulated_driver.h"

#include "emulated_kernels.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LAUNCH_FAILED = 719, NOT_FOUND = 500, HEAD_BYTES = 64, GUARD_BYTES = 64, GUARD = 0xa5 };

struct emulated emulated;

static cuda_result init(unsigned flags)
{
    (void)flags;
    return CUDA_OK;
}

static cuda_result error_name(cuda_result result, const char **ret)
{
    *ret = result == CUDA_OUT_OF_MEMORY ? "out of memory, on purpose" : "failed, on purpose";
    return CUDA_OK;
}

static cuda_result device_count(int *ret)
{
    *ret = 1;
    return CUDA_OK;
}

static cuda_result device_get(cuda_device_number *ret, int ordinal)
{
    *ret = ordinal;
    return CUDA_OK;
}

static cuda_result device_name(char *ret, int bytes, cuda_device_number device)
{
    (void)device;
    snprintf(ret, (size_t)bytes, "emulated");
    return CUDA_OK;
}

static cuda_result device_attribute(int *ret, int attribute, cuda_device_number device)
{
    (void)device;
    *ret = attribute == CUDA_CAPABILITY_MAJOR ? 9 : 0;
    return CUDA_OK;
}

static cuda_result context_retain(cuda_handle *ret, cuda_device_number device)
{
    (void)device;
    *ret = &emulated;
    return CUDA_OK;
}

static cuda_result context_release(cuda_device_number device)
{
    (void)device;
    return CUDA_OK;
}

static cuda_result context_set(cuda_handle context)
{
    (void)context;
    return CUDA_OK;
}

static cuda_result synchronize(void)
{
    return CUDA_OK;
}

/* A block: its size, its data, its guard. */
static cuda_result memory_get(cuda_address *ret, size_t bytes)
{
    char *block;

    if (++emulated.allocations == emulated.fail_allocation)
        return CUDA_OUT_OF_MEMORY;
    block = malloc(HEAD_BYTES + bytes + GUARD_BYTES);
    if (!block)
        return CUDA_OUT_OF_MEMORY;
    memcpy(block, &bytes, sizeof(bytes));
    memset(block + HEAD_BYTES, 0xff, bytes);
    memset(block + HEAD_BYTES + bytes, GUARD, GUARD_BYTES);
    emulated.live_blocks++;
    emulated.live_bytes += bytes;
    if (emulated.live_bytes > emulated.peak_bytes)
        emulated.peak_bytes = emulated.live_bytes;
    *ret = (cuda_address)(uintptr_t)(block + HEAD_BYTES);
    return CUDA_OK;
}

static cuda_result memory_free(cuda_address address)
{
    char *data = (char *)(uintptr_t)address;
    size_t bytes;

    memcpy(&bytes, data - HEAD_BYTES, sizeof(bytes));
    for (size_t i = 0; i < GUARD_BYTES; i++)
        if ((unsigned char)data[bytes + i] != GUARD) {
            emulated.damaged++;
            break;
        }
    emulated.live_blocks--;
    emulated.live_bytes -= bytes;
    free(data - HEAD_BYTES);
    return CUDA_OK;
}

static cuda_result memory_info(size_t *ret_free, size_t *ret_total)
{
    *ret_free = *ret_total = SIZE_MAX;
    return CUDA_OK;
}

static cuda_result upload(cuda_address to, const void *from, size_t bytes)
{
    memcpy((void *)(uintptr_t)to, from, bytes);
    return CUDA_OK;
}

static cuda_result download(void *to, cuda_address from, size_t bytes)
{
    memcpy(to, (void *)(uintptr_t)from, bytes);
    return CUDA_OK;
}

static cuda_result module_load(cuda_handle *ret, const void *image)
{
    (void)image;
    *ret = &emulated;
    return CUDA_OK;
}

static cuda_result module_unload(cuda_handle module)
{
    (void)module;
    return CUDA_OK;
}

static cuda_result module_function(cuda_handle *ret, cuda_handle module, const char *name)
{
    (void)module;
    *ret = (cuda_handle)(uintptr_t)emulated_kernel_find(name);
    return *ret ? CUDA_OK : NOT_FOUND;
}

static cuda_result module_global(cuda_address *ret, size_t *ret_bytes, cuda_handle module,
                                 const char *name)
{
    const struct emulated_table *table = emulated_table_find(name);

    (void)module;
    if (!table)
        return NOT_FOUND;
    *ret = (cuda_address)(uintptr_t)table->values;
    *ret_bytes = table->bytes;
    return CUDA_OK;
}

static cuda_result launch(cuda_handle function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                          unsigned block_x, unsigned block_y, unsigned block_z,
                          unsigned shared_bytes, cuda_handle stream, void **args, void **extra)
{
    const struct emulated_kernel *kernel = function;

    (void)shared_bytes;
    (void)stream;
    (void)extra;
    if (++emulated.launches == emulated.fail_launch)
        return LAUNCH_FAILED;
    kernel->run(args[0], (size_t)grid_x * grid_y * grid_z * block_x * block_y * block_z);
    return CUDA_OK;
}

void emulated_reset(void)
{
    emulated = (struct emulated){0};
}

void emulated_driver_load(struct cuda_driver *ret)
{
    *ret = (struct cuda_driver){
        .cuInit = init,
        .cuGetErrorName = error_name,
        .cuDeviceGetCount = device_count,
        .cuDeviceGet = device_get,
        .cuDeviceGetName = device_name,
        .cuDeviceGetAttribute = device_attribute,
        .cuDevicePrimaryCtxRetain = context_retain,
        .cuDevicePrimaryCtxRelease_v2 = context_release,
        .cuCtxSetCurrent = context_set,
        .cuCtxSynchronize = synchronize,
        .cuMemAlloc_v2 = memory_get,
        .cuMemFree_v2 = memory_free,
        .cuMemGetInfo_v2 = memory_info,
        .cuMemcpyHtoD_v2 = upload,
        .cuMemcpyDtoH_v2 = download,
        .cuModuleLoadData = module_load,
        .cuModuleUnload = module_unload,
        .cuModuleGetFunction = module_function,
        .cuModuleGetGlobal_v2 = module_global,
        .cuLaunchKernel = launch,
    };
}
