/* cuda_entries.h: the table of the driver's entry points that have a hook.
 *
 * A row has the exported symbol, the number of its arguments, and the meaning of a call for the
 * book (enum ml_cuda_action, without its prefix). Every argument fits a register, except the 64
 * bytes of an IPC handle: rows with IPC instead of a number have pointer, handle, flags.
 *
 * The first versions of functions that later got 64-bit addresses and sizes are left out
 * (cuMemAlloc, cuMemFree, cuMemcpyHtoD, cuArrayCreate, ... without _v2): no header since CUDA 3.2,
 * of 2010, refers to them.
 *
 * The linker scripts are generated from this table too.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CUDA_ENTRIES_H
#define ML_CUDA_ENTRIES_H

/* clang-format off */
#define ML_CUDA_ENTRIES(ENTRY)                                                    \
    /* Look-ups of all other functions. */                                        \
    ENTRY(cuGetProcAddress, 4, GET_PROC)                                          \
    ENTRY(cuGetProcAddress_v2, 5, GET_PROC)                                       \
    /* Device memory. */                                                          \
    ENTRY(cuMemAlloc_v2, 2, ALLOC)                                                \
    ENTRY(cuMemAllocPitch_v2, 5, ALLOC_PITCH)                                     \
    ENTRY(cuMemAllocManaged, 3, ALLOC_MANAGED)                                    \
    ENTRY(cuMemFree_v2, 1, FREE)                                                  \
    /* Pinned host memory. */                                                     \
    ENTRY(cuMemHostAlloc, 3, ALLOC_HOST)                                          \
    ENTRY(cuMemAllocHost_v2, 2, ALLOC_HOST)                                       \
    ENTRY(cuMemFreeHost, 1, FREE_HOST)                                            \
    ENTRY(cuMemHostRegister, 3, REGISTER)                                         \
    ENTRY(cuMemHostRegister_v2, 3, REGISTER)                                      \
    ENTRY(cuMemHostUnregister, 1, UNREGISTER)                                     \
    /* Stream-ordered, from pools. */                                             \
    ENTRY(cuMemAllocAsync, 3, ALLOC_ASYNC)                                        \
    ENTRY(cuMemAllocAsync_ptsz, 3, ALLOC_ASYNC)                                   \
    ENTRY(cuMemAllocFromPoolAsync, 4, ALLOC_POOL)                                 \
    ENTRY(cuMemAllocFromPoolAsync_ptsz, 4, ALLOC_POOL)                            \
    ENTRY(cuMemFreeAsync, 2, FREE_ASYNC)                                          \
    ENTRY(cuMemFreeAsync_ptsz, 2, FREE_ASYNC)                                     \
    ENTRY(cuMemPoolCreate, 2, POOL_CREATE)                                        \
    ENTRY(cuMemPoolDestroy, 1, POOL_DESTROY)                                      \
    ENTRY(cuMemPoolTrimTo, 2, POOL_TRIM)                                          \
    ENTRY(cuMemPoolSetAttribute, 3, POOL_TRIM)                                    \
    /* Virtual memory. */                                                         \
    ENTRY(cuMemCreate, 4, CREATE)                                                 \
    ENTRY(cuMemRelease, 1, RELEASE)                                               \
    ENTRY(cuMemRetainAllocationHandle, 2, RETAIN_HANDLE)                          \
    ENTRY(cuMemMap, 5, MAP)                                                       \
    ENTRY(cuMemUnmap, 2, UNMAP)                                                   \
    ENTRY(cuMemAddressReserve, 5, FIRST_CALL)                                     \
    ENTRY(cuMemSetAccess, 4, FIRST_CALL)                                          \
    ENTRY(cuMemPoolSetAccess, 3, FIRST_CALL)                                      \
    /* Arrays and mipmaps. */                                                     \
    ENTRY(cuArrayCreate_v2, 2, ARRAY_CREATE)                                      \
    ENTRY(cuArray3DCreate_v2, 2, ARRAY_CREATE)                                    \
    ENTRY(cuMipmappedArrayCreate, 3, ARRAY_CREATE)                                \
    ENTRY(cuArrayDestroy, 1, ARRAY_DESTROY)                                       \
    ENTRY(cuMipmappedArrayDestroy, 1, ARRAY_DESTROY)                              \
    ENTRY(cuTexObjectCreate, 4, FIRST_CALL)                                       \
    ENTRY(cuSurfObjectCreate, 2, FIRST_CALL)                                      \
    /* Memory of other processes. */                                              \
    ENTRY(cuIpcOpenMemHandle, IPC, IPC_OPEN)                                      \
    ENTRY(cuIpcOpenMemHandle_v2, IPC, IPC_OPEN)                                   \
    ENTRY(cuMemPoolImportPointer, 3, IPC_OPEN)                                    \
    ENTRY(cuIpcCloseMemHandle, 1, IPC_CLOSE)                                      \
    /* Graphs, which have their own memory. */                                    \
    ENTRY(cuGraphInstantiate, 5, GRAPH)                                           \
    ENTRY(cuGraphInstantiate_v2, 5, GRAPH)                                        \
    ENTRY(cuGraphInstantiateWithFlags, 3, GRAPH)                                  \
    ENTRY(cuGraphInstantiateWithParams, 3, GRAPH)                                 \
    ENTRY(cuGraphInstantiateWithParams_ptsz, 3, GRAPH)                            \
    ENTRY(cuGraphExecUpdate, 4, GRAPH)                                            \
    ENTRY(cuGraphExecUpdate_v2, 3, GRAPH)                                         \
    ENTRY(cuGraphUpload, 2, GRAPH)                                                \
    ENTRY(cuGraphUpload_ptsz, 2, GRAPH)                                           \
    ENTRY(cuGraphExecDestroy, 1, GRAPH)                                           \
    ENTRY(cuDeviceGraphMemTrim, 1, GRAPH_TRIM)                                    \
    ENTRY(cuGraphLaunch, 2, GRAPH_LAUNCH)                                         \
    ENTRY(cuGraphLaunch_ptsz, 2, GRAPH_LAUNCH)                                    \
    /* Contexts. */                                                               \
    ENTRY(cuInit, 1, INIT)                                                        \
    ENTRY(cuCtxCreate, 3, CONTEXT_MAKE)                                           \
    ENTRY(cuCtxCreate_v2, 3, CONTEXT_MAKE)                                        \
    ENTRY(cuCtxCreate_v3, 5, CONTEXT_MAKE)                                        \
    ENTRY(cuCtxCreate_v4, 4, CONTEXT_MAKE)                                        \
    ENTRY(cuGreenCtxCreate, 4, CONTEXT_MAKE)                                      \
    ENTRY(cuCtxEnablePeerAccess, 2, PEER)                                         \
    ENTRY(cuCtxDestroy, 1, CONTEXT_END)                                           \
    ENTRY(cuCtxDestroy_v2, 1, CONTEXT_END)                                        \
    ENTRY(cuCtxDetach, 1, CONTEXT_END)                                            \
    ENTRY(cuGreenCtxDestroy, 1, CONTEXT_END)                                      \
    ENTRY(cuDevicePrimaryCtxRetain, 2, PRIMARY_MAKE)                              \
    ENTRY(cuDevicePrimaryCtxRelease, 1, PRIMARY_END)                              \
    ENTRY(cuDevicePrimaryCtxRelease_v2, 1, PRIMARY_END)                           \
    ENTRY(cuDevicePrimaryCtxReset, 1, PRIMARY_END)                                \
    ENTRY(cuDevicePrimaryCtxReset_v2, 1, PRIMARY_END)                             \
    ENTRY(cuCtxSetLimit, 2, LIMIT)                                                \
    /* Code. */                                                                   \
    ENTRY(cuModuleLoad, 2, MODULE)                                                \
    ENTRY(cuModuleLoadData, 2, MODULE)                                            \
    ENTRY(cuModuleLoadDataEx, 5, MODULE)                                          \
    ENTRY(cuModuleLoadFatBinary, 2, MODULE)                                       \
    ENTRY(cuModuleUnload, 1, MODULE)                                              \
    ENTRY(cuModuleGetFunction, 3, MODULE)                                         \
    ENTRY(cuModuleGetGlobal_v2, 4, MODULE)                                        \
    ENTRY(cuLibraryLoadData, 8, MODULE)                                           \
    ENTRY(cuLibraryLoadFromFile, 8, MODULE)                                       \
    ENTRY(cuLibraryUnload, 1, MODULE)                                             \
    ENTRY(cuLibraryGetModule, 2, MODULE)                                          \
    ENTRY(cuLibraryGetKernel, 3, MODULE)                                          \
    ENTRY(cuLibraryGetGlobal, 4, MODULE)                                          \
    ENTRY(cuLibraryGetManaged, 4, MODULE)                                         \
    ENTRY(cuLibraryGetUnifiedFunction, 3, MODULE)                                 \
    ENTRY(cuLinkComplete, 3, MODULE)                                              \
    ENTRY(cuFuncLoad, 1, FIRST_ASK_0)                                             \
    ENTRY(cuFuncSetAttribute, 3, FIRST_ASK_0)                                     \
    ENTRY(cuKernelGetFunction, 2, FIRST_ASK_1)                                    \
    ENTRY(cuOccupancyMaxActiveBlocksPerMultiprocessor, 4, FIRST_ASK_1)            \
    ENTRY(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, 5, FIRST_ASK_1)   \
    ENTRY(cuFuncGetAttribute, 3, FIRST_ASK_2)                                     \
    ENTRY(cuKernelGetAttribute, 4, FIRST_ASK_2)                                   \
    ENTRY(cuKernelSetAttribute, 4, FIRST_ASK_2)                                   \
    ENTRY(cuLaunchKernel, 11, FIRST_LAUNCH)                                       \
    ENTRY(cuLaunchKernel_ptsz, 11, FIRST_LAUNCH)                                  \
    ENTRY(cuLaunchCooperativeKernel, 10, FIRST_LAUNCH)                            \
    ENTRY(cuLaunchCooperativeKernel_ptsz, 10, FIRST_LAUNCH)                       \
    ENTRY(cuLaunch, 1, FIRST_LAUNCH)                                              \
    ENTRY(cuLaunchGrid, 3, FIRST_LAUNCH)                                          \
    ENTRY(cuLaunchGridAsync, 4, FIRST_LAUNCH)                                     \
    ENTRY(cuLaunchKernelEx, 4, FIRST_LAUNCH_1)                                    \
    ENTRY(cuLaunchKernelEx_ptsz, 4, FIRST_LAUNCH_1)                               \
    ENTRY(cuLaunchCooperativeKernelMultiDevice, 3, FIRST_CALL)                    \
    /* Calls at which pools release memory. */                                    \
    ENTRY(cuStreamSynchronize, 1, SYNCHRONIZE)                                    \
    ENTRY(cuStreamSynchronize_ptsz, 1, SYNCHRONIZE)                               \
    ENTRY(cuCtxSynchronize, 0, SYNCHRONIZE)                                       \
    ENTRY(cuCtxSynchronize_v2, 1, SYNCHRONIZE)                                    \
    ENTRY(cuEventSynchronize, 1, SYNCHRONIZE)                                     \
    ENTRY(cuStreamDestroy, 1, STREAM)                                             \
    ENTRY(cuStreamDestroy_v2, 1, STREAM)                                          \
    /* Calls that make the driver take memory once: streams, events, copies … */  \
    ENTRY(cuStreamCreate, 2, STREAM)                                              \
    ENTRY(cuStreamCreateWithPriority, 3, STREAM)                                  \
    ENTRY(cuGreenCtxStreamCreate, 4, STREAM)                                      \
    ENTRY(cuStreamBeginCapture, 1, FIRST_CALL)                                    \
    ENTRY(cuStreamBeginCapture_ptsz, 1, FIRST_CALL)                               \
    ENTRY(cuStreamBeginCapture_v2, 2, FIRST_CALL)                                 \
    ENTRY(cuStreamBeginCapture_v2_ptsz, 2, FIRST_CALL)                            \
    ENTRY(cuStreamBeginCaptureToGraph, 6, FIRST_CALL)                             \
    ENTRY(cuStreamBeginCaptureToGraph_ptsz, 6, FIRST_CALL)                        \
    ENTRY(cuStreamAttachMemAsync, 4, FIRST_CALL)                                  \
    ENTRY(cuStreamAttachMemAsync_ptsz, 4, FIRST_CALL)                             \
    ENTRY(cuEventCreate, 2, FIRST_CALL)                                           \
    ENTRY(cuMemBatchDecompressAsync, 5, FIRST_CALL)                               \
    ENTRY(cuMemBatchDecompressAsync_ptsz, 5, FIRST_CALL)                          \
    ENTRY(cuMemcpy, 3, FIRST_CALL)                                                \
    ENTRY(cuMemcpy2DAsync_v2, 2, FIRST_CALL)                                      \
    ENTRY(cuMemcpy2DAsync_v2_ptsz, 2, FIRST_CALL)                                 \
    ENTRY(cuMemcpy2DUnaligned_v2, 1, FIRST_CALL)                                  \
    ENTRY(cuMemcpy2DUnaligned_v2_ptds, 1, FIRST_CALL)                             \
    ENTRY(cuMemcpy2D_v2, 1, FIRST_CALL)                                           \
    ENTRY(cuMemcpy2D_v2_ptds, 1, FIRST_CALL)                                      \
    ENTRY(cuMemcpy3DAsync_v2, 2, FIRST_CALL)                                      \
    ENTRY(cuMemcpy3DAsync_v2_ptsz, 2, FIRST_CALL)                                 \
    ENTRY(cuMemcpy3DBatchAsync, 5, FIRST_CALL)                                    \
    ENTRY(cuMemcpy3DBatchAsync_ptsz, 5, FIRST_CALL)                               \
    ENTRY(cuMemcpy3DBatchAsync_v2, 4, FIRST_CALL)                                 \
    ENTRY(cuMemcpy3DBatchAsync_v2_ptsz, 4, FIRST_CALL)                            \
    ENTRY(cuMemcpy3DPeer, 1, FIRST_CALL)                                          \
    ENTRY(cuMemcpy3DPeerAsync, 2, FIRST_CALL)                                     \
    ENTRY(cuMemcpy3DPeerAsync_ptsz, 2, FIRST_CALL)                                \
    ENTRY(cuMemcpy3DPeer_ptds, 1, FIRST_CALL)                                     \
    ENTRY(cuMemcpy3D_v2, 1, FIRST_CALL)                                           \
    ENTRY(cuMemcpy3D_v2_ptds, 1, FIRST_CALL)                                      \
    ENTRY(cuMemcpyAsync, 4, FIRST_CALL)                                           \
    ENTRY(cuMemcpyAsync_ptsz, 4, FIRST_CALL)                                      \
    ENTRY(cuMemcpyAtoA_v2, 5, FIRST_CALL)                                         \
    ENTRY(cuMemcpyAtoA_v2_ptds, 5, FIRST_CALL)                                    \
    ENTRY(cuMemcpyAtoD_v2, 4, FIRST_CALL)                                         \
    ENTRY(cuMemcpyAtoD_v2_ptds, 4, FIRST_CALL)                                    \
    ENTRY(cuMemcpyAtoHAsync_v2, 5, FIRST_CALL)                                    \
    ENTRY(cuMemcpyAtoHAsync_v2_ptsz, 5, FIRST_CALL)                               \
    ENTRY(cuMemcpyAtoH_v2, 4, FIRST_CALL)                                         \
    ENTRY(cuMemcpyAtoH_v2_ptds, 4, FIRST_CALL)                                    \
    ENTRY(cuMemcpyBatchAsync, 9, FIRST_CALL)                                      \
    ENTRY(cuMemcpyBatchAsync_ptsz, 9, FIRST_CALL)                                 \
    ENTRY(cuMemcpyBatchAsync_v2, 8, FIRST_CALL)                                   \
    ENTRY(cuMemcpyBatchAsync_v2_ptsz, 8, FIRST_CALL)                              \
    ENTRY(cuMemcpyDtoA_v2, 4, FIRST_CALL)                                         \
    ENTRY(cuMemcpyDtoA_v2_ptds, 4, FIRST_CALL)                                    \
    ENTRY(cuMemcpyDtoDAsync_v2, 4, FIRST_CALL)                                    \
    ENTRY(cuMemcpyDtoDAsync_v2_ptsz, 4, FIRST_CALL)                               \
    ENTRY(cuMemcpyDtoD_v2, 3, FIRST_CALL)                                         \
    ENTRY(cuMemcpyDtoD_v2_ptds, 3, FIRST_CALL)                                    \
    ENTRY(cuMemcpyDtoHAsync_v2, 4, FIRST_CALL)                                    \
    ENTRY(cuMemcpyDtoHAsync_v2_ptsz, 4, FIRST_CALL)                               \
    ENTRY(cuMemcpyDtoH_v2, 3, FIRST_CALL)                                         \
    ENTRY(cuMemcpyDtoH_v2_ptds, 3, FIRST_CALL)                                    \
    ENTRY(cuMemcpyHtoAAsync_v2, 5, FIRST_CALL)                                    \
    ENTRY(cuMemcpyHtoAAsync_v2_ptsz, 5, FIRST_CALL)                               \
    ENTRY(cuMemcpyHtoA_v2, 4, FIRST_CALL)                                         \
    ENTRY(cuMemcpyHtoA_v2_ptds, 4, FIRST_CALL)                                    \
    ENTRY(cuMemcpyHtoDAsync_v2, 4, FIRST_CALL)                                    \
    ENTRY(cuMemcpyHtoDAsync_v2_ptsz, 4, FIRST_CALL)                               \
    ENTRY(cuMemcpyHtoD_v2, 3, FIRST_CALL)                                         \
    ENTRY(cuMemcpyHtoD_v2_ptds, 3, FIRST_CALL)                                    \
    ENTRY(cuMemcpyPeer, 5, FIRST_CALL)                                            \
    ENTRY(cuMemcpyPeerAsync, 6, FIRST_CALL)                                       \
    ENTRY(cuMemcpyPeerAsync_ptsz, 6, FIRST_CALL)                                  \
    ENTRY(cuMemcpyPeer_ptds, 5, FIRST_CALL)                                       \
    ENTRY(cuMemcpy_ptds, 3, FIRST_CALL)                                           \
    ENTRY(cuMemDiscardAndPrefetchBatchAsync, 8, FIRST_CALL)                       \
    ENTRY(cuMemDiscardAndPrefetchBatchAsync_ptsz, 8, FIRST_CALL)                  \
    ENTRY(cuMemDiscardBatchAsync, 5, FIRST_CALL)                                  \
    ENTRY(cuMemDiscardBatchAsync_ptsz, 5, FIRST_CALL)                             \
    ENTRY(cuMemPrefetchAsync, 4, FIRST_CALL)                                      \
    ENTRY(cuMemPrefetchAsync_ptsz, 4, FIRST_CALL)                                 \
    ENTRY(cuMemPrefetchAsync_v2, 5, FIRST_CALL)                                   \
    ENTRY(cuMemPrefetchAsync_v2_ptsz, 5, FIRST_CALL)                              \
    ENTRY(cuMemPrefetchBatchAsync, 8, FIRST_CALL)                                 \
    ENTRY(cuMemPrefetchBatchAsync_ptsz, 8, FIRST_CALL)                            \
    ENTRY(cuMemsetD16Async, 4, FIRST_CALL)                                        \
    ENTRY(cuMemsetD16Async_ptsz, 4, FIRST_CALL)                                   \
    ENTRY(cuMemsetD16_v2, 3, FIRST_CALL)                                          \
    ENTRY(cuMemsetD16_v2_ptds, 3, FIRST_CALL)                                     \
    ENTRY(cuMemsetD2D16Async, 6, FIRST_CALL)                                      \
    ENTRY(cuMemsetD2D16Async_ptsz, 6, FIRST_CALL)                                 \
    ENTRY(cuMemsetD2D16_v2, 5, FIRST_CALL)                                        \
    ENTRY(cuMemsetD2D16_v2_ptds, 5, FIRST_CALL)                                   \
    ENTRY(cuMemsetD2D32Async, 6, FIRST_CALL)                                      \
    ENTRY(cuMemsetD2D32Async_ptsz, 6, FIRST_CALL)                                 \
    ENTRY(cuMemsetD2D32_v2, 5, FIRST_CALL)                                        \
    ENTRY(cuMemsetD2D32_v2_ptds, 5, FIRST_CALL)                                   \
    ENTRY(cuMemsetD2D8Async, 6, FIRST_CALL)                                       \
    ENTRY(cuMemsetD2D8Async_ptsz, 6, FIRST_CALL)                                  \
    ENTRY(cuMemsetD2D8_v2, 5, FIRST_CALL)                                         \
    ENTRY(cuMemsetD2D8_v2_ptds, 5, FIRST_CALL)                                    \
    ENTRY(cuMemsetD32Async, 4, FIRST_CALL)                                        \
    ENTRY(cuMemsetD32Async_ptsz, 4, FIRST_CALL)                                   \
    ENTRY(cuMemsetD32_v2, 3, FIRST_CALL)                                          \
    ENTRY(cuMemsetD32_v2_ptds, 3, FIRST_CALL)                                     \
    ENTRY(cuMemsetD8Async, 4, FIRST_CALL)                                         \
    ENTRY(cuMemsetD8Async_ptsz, 4, FIRST_CALL)                                    \
    ENTRY(cuMemsetD8_v2, 3, FIRST_CALL)                                           \
    ENTRY(cuMemsetD8_v2_ptds, 3, FIRST_CALL)
/* clang-format on */

#ifndef ML_LINKER_SCRIPT
#define ML_CUDA_ENTRY(symbol, arguments, action) ML_CUDA_ENTRY_##symbol,
enum ml_cuda_entry { ML_CUDA_ENTRIES(ML_CUDA_ENTRY) ML_CUDA_ENTRY_COUNT };
#undef ML_CUDA_ENTRY
#endif

#endif
