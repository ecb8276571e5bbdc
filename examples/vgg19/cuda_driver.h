/* cuda_driver.h: the part of the CUDA driver's interface that this example calls, declared here
 * and found at run time: the build does not need CUDA, and a machine without it only loses
 * --device cuda.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef VGG19_CUDA_DRIVER_H
#define VGG19_CUDA_DRIVER_H

#include <stddef.h>

enum {
    CUDA_OK = 0,
    CUDA_OUT_OF_MEMORY = 2,
};

/* Names of device attributes. */
enum {
    CUDA_CAPABILITY_MAJOR = 75,
    CUDA_CAPABILITY_MINOR = 76,
};

typedef int cuda_result;
typedef int cuda_device_number;
typedef unsigned long long cuda_address;
typedef void *cuda_handle; /* context, module, function, stream */

/* One row per entry point: result type, exported name, and parameters. */
#define CUDA_DRIVER_ENTRIES(X)                                                                     \
    X(cuda_result, cuInit, (unsigned flags))                                                       \
    X(cuda_result, cuGetErrorName, (cuda_result result, const char **ret))                         \
    X(cuda_result, cuDeviceGetCount, (int *ret))                                                   \
    X(cuda_result, cuDeviceGet, (cuda_device_number * ret, int ordinal))                           \
    X(cuda_result, cuDeviceGetName, (char *ret, int bytes, cuda_device_number device))             \
    X(cuda_result, cuDeviceGetAttribute, (int *ret, int attribute, cuda_device_number device))     \
    X(cuda_result, cuDevicePrimaryCtxRetain, (cuda_handle * ret, cuda_device_number device))       \
    X(cuda_result, cuDevicePrimaryCtxRelease_v2, (cuda_device_number device))                      \
    X(cuda_result, cuCtxSetCurrent, (cuda_handle context))                                         \
    X(cuda_result, cuCtxSynchronize, (void))                                                       \
    X(cuda_result, cuMemAlloc_v2, (cuda_address * ret, size_t bytes))                              \
    X(cuda_result, cuMemFree_v2, (cuda_address address))                                           \
    X(cuda_result, cuMemGetInfo_v2, (size_t * ret_free, size_t * ret_total))                       \
    X(cuda_result, cuMemcpyHtoD_v2, (cuda_address to, const void *from, size_t bytes))             \
    X(cuda_result, cuMemcpyDtoH_v2, (void *to, cuda_address from, size_t bytes))                   \
    X(cuda_result, cuModuleLoadData, (cuda_handle * ret, const void *image))                       \
    X(cuda_result, cuModuleUnload, (cuda_handle module))                                           \
    X(cuda_result, cuModuleGetFunction, (cuda_handle * ret, cuda_handle module, const char *name)) \
    X(cuda_result, cuModuleGetGlobal_v2,                                                           \
      (cuda_address * ret, size_t * ret_bytes, cuda_handle module, const char *name))              \
    X(cuda_result, cuLaunchKernel,                                                                 \
      (cuda_handle function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,  \
       unsigned block_y, unsigned block_z, unsigned shared_bytes, cuda_handle stream, void **args, \
       void **extra))

struct cuda_driver {
/* NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration */
#define X(type, name, parameters) type(*name) parameters;
    CUDA_DRIVER_ENTRIES(X)
#undef X
};

/* Opens libcuda.so.1 and fills the table. Returns 0, or -ENODEV after a message on stderr. The
 * library stays open until the program ends. */
int cuda_driver_load(struct cuda_driver *ret);

/* "CUDA_ERROR_..." for a message; never NULL. */
const char *cuda_error_name(const struct cuda_driver *driver, cuda_result result);

#endif
