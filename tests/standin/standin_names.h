/* standin_names.h: what cuGetProcAddress knows.
 *
 * A row: the name to ask for, the CUDA version from which on the row holds, and the
 * symbol. PER_THREAD has a second symbol, for callers who want one default stream
 * for each thread. Of the rows with one name the newest that is not newer than
 * the caller's version counts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
NAME(cuCtxCreate, 3020, cuCtxCreate_v2)
NAME(cuCtxCreate, 11040, cuCtxCreate_v3)
NAME(cuCtxCreate, 12050, cuCtxCreate_v4)
NAME(cuCtxDestroy, 4000, cuCtxDestroy_v2)
NAME(cuCtxGetCurrent, 4000, cuCtxGetCurrent)
NAME(cuCtxGetDevice, 2000, cuCtxGetDevice)
NAME(cuCtxGetLimit, 3010, cuCtxGetLimit)
NAME(cuCtxPopCurrent, 4000, cuCtxPopCurrent_v2)
NAME(cuCtxPushCurrent, 4000, cuCtxPushCurrent_v2)
NAME(cuCtxSetCurrent, 4000, cuCtxSetCurrent)
NAME(cuCtxSetLimit, 3010, cuCtxSetLimit)
NAME(cuDeviceGet, 2000, cuDeviceGet)
NAME(cuDeviceGetAttribute, 2000, cuDeviceGetAttribute)
NAME(cuDeviceGetByPCIBusId, 4010, cuDeviceGetByPCIBusId)
NAME(cuDeviceGetCount, 2000, cuDeviceGetCount)
NAME(cuDeviceGetName, 2000, cuDeviceGetName)
NAME(cuDeviceGetPCIBusId, 4010, cuDeviceGetPCIBusId)
NAME(cuDeviceGetUuid, 11040, cuDeviceGetUuid_v2)
NAME(cuDevicePrimaryCtxGetState, 7000, cuDevicePrimaryCtxGetState)
NAME(cuDevicePrimaryCtxRelease, 11000, cuDevicePrimaryCtxRelease_v2)
NAME(cuDevicePrimaryCtxReset, 11000, cuDevicePrimaryCtxReset_v2)
NAME(cuDevicePrimaryCtxRetain, 7000, cuDevicePrimaryCtxRetain)
NAME(cuDevicePrimaryCtxSetFlags, 11000, cuDevicePrimaryCtxSetFlags_v2)
NAME(cuDeviceTotalMem, 3020, cuDeviceTotalMem_v2)
NAME(cuDriverGetVersion, 2020, cuDriverGetVersion)
NAME(cuGetProcAddress, 11030, cuGetProcAddress)
NAME(cuGetProcAddress, 12000, cuGetProcAddress_v2)
NAME(cuInit, 2000, cuInit)
NAME(cuMemAlloc, 3020, cuMemAlloc_v2)
NAME(cuMemAllocPitch, 3020, cuMemAllocPitch_v2)
NAME(cuMemFree, 3020, cuMemFree_v2)
NAME(cuMemGetAddressRange, 3020, cuMemGetAddressRange_v2)
NAME(cuMemGetInfo, 3020, cuMemGetInfo_v2)
