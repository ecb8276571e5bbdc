/* cuda_api.h: the part of the CUDA driver's interface that the test programs use, and three
 * ways to reach it: linked, by dlopen and dlsym, and by cuGetProcAddress, as run-time libraries
 * do. CUDA_VIA selects one; a program is built once for each.
 *
 * Types are in the project's own words: addresses and handles of allocations have
 * 64 bits, all other handles are pointers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CUDA_API_H
#define CUDA_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CUDA_LINKED 1
#define CUDA_DLSYM 2
#define CUDA_PROC 3

typedef uint64_t cuda_address;

struct cuda_place {
    int kind; /* 1: a device */
    int number;
};

struct cuda_pool_properties {
    int type; /* 1: pinned, the only one there is */
    int handle_types;
    struct cuda_place place;
    void *security;
    size_t max_bytes;
    unsigned short usage;
    unsigned char reserved[54];
};

struct cuda_allocation_properties {
    int type;
    int handle_types;
    struct cuda_place place;
    void *metadata;
    unsigned char flags[8];
};

struct cuda_access {
    struct cuda_place place;
    int flags; /* 3: read and write */
};

struct cuda_array_descriptor {
    size_t width, height, depth;
    int format; /* 0x20: float */
    unsigned channels, flags;
};

struct cuda_alloc_node {
    struct cuda_pool_properties properties;
    const void *accesses;
    size_t access_count;
    size_t bytes;
    cuda_address address;
};

struct cuda_ipc_handle {
    char bytes[64];
};

/* Name to ask for, exported symbol, variant for one default stream per thread (the
 * same symbol when there is none), CUDA version, parameters. */
#define CUDA_API(X)                                                                                \
    X(cuInit, cuInit, cuInit, 2000, (unsigned))                                                    \
    X(cuDeviceGetCount, cuDeviceGetCount, cuDeviceGetCount, 2000, (int *))                         \
    X(cuDeviceGetUuid, cuDeviceGetUuid_v2, cuDeviceGetUuid_v2, 11040, (void *, int))               \
    X(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, 7000,          \
      (void **, int))                                                                              \
    X(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2, cuDevicePrimaryCtxRelease_v2,       \
      11000, (int))                                                                                \
    X(cuDevicePrimaryCtxReset, cuDevicePrimaryCtxReset_v2, cuDevicePrimaryCtxReset_v2, 11000,      \
      (int))                                                                                       \
    X(cuCtxCreate, cuCtxCreate_v2, cuCtxCreate_v2, 3020, (void **, unsigned, int))                 \
    X(cuCtxDestroy, cuCtxDestroy_v2, cuCtxDestroy_v2, 4000, (void *))                              \
    X(cuCtxSetCurrent, cuCtxSetCurrent, cuCtxSetCurrent, 4000, (void *))                           \
    X(cuCtxGetDevice, cuCtxGetDevice, cuCtxGetDevice, 2000, (int *))                               \
    X(cuCtxSetLimit, cuCtxSetLimit, cuCtxSetLimit, 3010, (int, size_t))                            \
    X(cuCtxSynchronize, cuCtxSynchronize, cuCtxSynchronize, 2000, (void))                          \
    X(cuMemGetInfo, cuMemGetInfo_v2, cuMemGetInfo_v2, 3020, (size_t *, size_t *))                  \
    X(cuMemAlloc, cuMemAlloc_v2, cuMemAlloc_v2, 3020, (cuda_address *, size_t))                    \
    X(cuMemAllocPitch, cuMemAllocPitch_v2, cuMemAllocPitch_v2, 3020,                               \
      (cuda_address *, size_t *, size_t, size_t, unsigned))                                        \
    X(cuMemAllocManaged, cuMemAllocManaged, cuMemAllocManaged, 6000,                               \
      (cuda_address *, size_t, unsigned))                                                          \
    X(cuMemFree, cuMemFree_v2, cuMemFree_v2, 3020, (cuda_address))                                 \
    X(cuMemHostAlloc, cuMemHostAlloc, cuMemHostAlloc, 2020, (void **, size_t, unsigned))           \
    X(cuMemAllocHost, cuMemAllocHost_v2, cuMemAllocHost_v2, 3020, (void **, size_t))               \
    X(cuMemFreeHost, cuMemFreeHost, cuMemFreeHost, 2000, (void *))                                 \
    X(cuMemHostRegister, cuMemHostRegister_v2, cuMemHostRegister_v2, 6050,                         \
      (void *, size_t, unsigned))                                                                  \
    X(cuMemHostUnregister, cuMemHostUnregister, cuMemHostUnregister, 4000, (void *))               \
    X(cuMemAllocAsync, cuMemAllocAsync, cuMemAllocAsync_ptsz, 11020,                               \
      (cuda_address *, size_t, void *))                                                            \
    X(cuMemAllocFromPoolAsync, cuMemAllocFromPoolAsync, cuMemAllocFromPoolAsync_ptsz, 11020,       \
      (cuda_address *, size_t, void *, void *))                                                    \
    X(cuMemFreeAsync, cuMemFreeAsync, cuMemFreeAsync_ptsz, 11020, (cuda_address, void *))          \
    X(cuDeviceGetDefaultMemPool, cuDeviceGetDefaultMemPool, cuDeviceGetDefaultMemPool, 11020,      \
      (void **, int))                                                                              \
    X(cuMemPoolCreate, cuMemPoolCreate, cuMemPoolCreate, 11020,                                    \
      (void **, const struct cuda_pool_properties *))                                              \
    X(cuMemPoolDestroy, cuMemPoolDestroy, cuMemPoolDestroy, 11020, (void *))                       \
    X(cuMemPoolTrimTo, cuMemPoolTrimTo, cuMemPoolTrimTo, 11020, (void *, size_t))                  \
    X(cuMemPoolGetAttribute, cuMemPoolGetAttribute, cuMemPoolGetAttribute, 11020,                  \
      (void *, int, void *))                                                                       \
    X(cuMemPoolSetAttribute, cuMemPoolSetAttribute, cuMemPoolSetAttribute, 11020,                  \
      (void *, int, void *))                                                                       \
    X(cuMemAddressReserve, cuMemAddressReserve, cuMemAddressReserve, 10020,                        \
      (cuda_address *, size_t, size_t, cuda_address, unsigned long long))                          \
    X(cuMemAddressFree, cuMemAddressFree, cuMemAddressFree, 10020, (cuda_address, size_t))         \
    X(cuMemCreate, cuMemCreate, cuMemCreate, 10020,                                                \
      (uint64_t *, size_t, const struct cuda_allocation_properties *, unsigned long long))         \
    X(cuMemRelease, cuMemRelease, cuMemRelease, 10020, (uint64_t))                                 \
    X(cuMemRetainAllocationHandle, cuMemRetainAllocationHandle, cuMemRetainAllocationHandle,       \
      11000, (uint64_t *, void *))                                                                 \
    X(cuMemMap, cuMemMap, cuMemMap, 10020,                                                         \
      (cuda_address, size_t, size_t, uint64_t, unsigned long long))                                \
    X(cuMemUnmap, cuMemUnmap, cuMemUnmap, 10020, (cuda_address, size_t))                           \
    X(cuMemSetAccess, cuMemSetAccess, cuMemSetAccess, 10020,                                       \
      (cuda_address, size_t, const struct cuda_access *, size_t))                                  \
    X(cuArray3DCreate, cuArray3DCreate_v2, cuArray3DCreate_v2, 3020,                               \
      (void **, const struct cuda_array_descriptor *))                                             \
    X(cuArrayDestroy, cuArrayDestroy, cuArrayDestroy, 2000, (void *))                              \
    X(cuMipmappedArrayCreate, cuMipmappedArrayCreate, cuMipmappedArrayCreate, 5000,                \
      (void **, const struct cuda_array_descriptor *, unsigned))                                   \
    X(cuMipmappedArrayDestroy, cuMipmappedArrayDestroy, cuMipmappedArrayDestroy, 5000, (void *))   \
    X(cuIpcGetMemHandle, cuIpcGetMemHandle, cuIpcGetMemHandle, 4010,                               \
      (struct cuda_ipc_handle *, cuda_address))                                                    \
    X(cuIpcOpenMemHandle, cuIpcOpenMemHandle_v2, cuIpcOpenMemHandle_v2, 11000,                     \
      (cuda_address *, struct cuda_ipc_handle, unsigned))                                          \
    X(cuIpcCloseMemHandle, cuIpcCloseMemHandle, cuIpcCloseMemHandle, 4010, (cuda_address))         \
    X(cuStreamCreate, cuStreamCreate, cuStreamCreate, 2000, (void **, unsigned))                   \
    X(cuStreamDestroy, cuStreamDestroy_v2, cuStreamDestroy_v2, 4000, (void *))                     \
    X(cuStreamSynchronize, cuStreamSynchronize, cuStreamSynchronize_ptsz, 2000, (void *))          \
    X(cuStreamBeginCapture, cuStreamBeginCapture_v2, cuStreamBeginCapture_v2_ptsz, 10010,          \
      (void *, int))                                                                               \
    X(cuStreamEndCapture, cuStreamEndCapture, cuStreamEndCapture_ptsz, 10000, (void *, void **))   \
    X(cuMemPrefetchAsync, cuMemPrefetchAsync, cuMemPrefetchAsync_ptsz, 8000,                       \
      (cuda_address, size_t, int, void *))                                                         \
    X(cuMemcpyHtoD, cuMemcpyHtoD_v2, cuMemcpyHtoD_v2_ptds, 3020,                                   \
      (cuda_address, const void *, size_t))                                                        \
    X(cuMemcpyDtoH, cuMemcpyDtoH_v2, cuMemcpyDtoH_v2_ptds, 3020, (void *, cuda_address, size_t))   \
    X(cuMemsetD8, cuMemsetD8_v2, cuMemsetD8_v2_ptds, 3020, (cuda_address, unsigned char, size_t))  \
    X(cuModuleLoadData, cuModuleLoadData, cuModuleLoadData, 2000, (void **, const void *))         \
    X(cuModuleUnload, cuModuleUnload, cuModuleUnload, 2000, (void *))                              \
    X(cuModuleGetFunction, cuModuleGetFunction, cuModuleGetFunction, 2000,                         \
      (void **, void *, const char *))                                                             \
    X(cuLibraryLoadData, cuLibraryLoadData, cuLibraryLoadData, 12000,                              \
      (void **, const void *, void *, void *, unsigned, void *, void *, unsigned))                 \
    X(cuLibraryUnload, cuLibraryUnload, cuLibraryUnload, 12000, (void *))                          \
    X(cuLibraryGetKernel, cuLibraryGetKernel, cuLibraryGetKernel, 12000,                           \
      (void **, void *, const char *))                                                             \
    X(cuLaunchKernel, cuLaunchKernel, cuLaunchKernel_ptsz, 4000,                                   \
      (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *,       \
       void **, void **))                                                                          \
    X(cuGraphCreate, cuGraphCreate, cuGraphCreate, 10000, (void **, unsigned))                     \
    X(cuGraphDestroy, cuGraphDestroy, cuGraphDestroy, 10000, (void *))                             \
    X(cuGraphAddMemAllocNode, cuGraphAddMemAllocNode, cuGraphAddMemAllocNode, 11040,               \
      (void **, void *, void *, size_t, struct cuda_alloc_node *))                                 \
    X(cuGraphInstantiateWithFlags, cuGraphInstantiateWithFlags, cuGraphInstantiateWithFlags,       \
      11040, (void **, void *, unsigned long long))                                                \
    X(cuGraphLaunch, cuGraphLaunch, cuGraphLaunch_ptsz, 10000, (void *, void *))                   \
    X(cuGraphExecDestroy, cuGraphExecDestroy, cuGraphExecDestroy, 10000, (void *))                 \
    X(cuDeviceGraphMemTrim, cuDeviceGraphMemTrim, cuDeviceGraphMemTrim, 11040, (int))              \
    X(cuDeviceGetGraphMemAttribute, cuDeviceGetGraphMemAttribute, cuDeviceGetGraphMemAttribute,    \
      11040, (int, int, void *))

/* One pointer for each, called as cuda.cuMemAlloc(...). */
struct cuda_api {
#define CUDA_POINTER(name, symbol, per_thread, version, params) int(*name) params;
    CUDA_API(CUDA_POINTER)
#undef CUDA_POINTER
};

extern struct cuda_api cuda;

/* Fill in the pointers, before anything else.
 * @per_thread  the variants with one default stream for each thread
 * @return NULL, or the name of what is missing */
const char *cuda_api_load(bool per_thread);

#endif
