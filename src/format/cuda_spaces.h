/* cuda_spaces.h: the names of the spaces that the CUDA hooks fill and the ledger
 * reads. Devices are called "cuda:N", N as NVML and nvidia-smi count.
 *
 * At the driver level, a device's spaces add up to what the driver charges for it. The program
 * requested the memory of the first group. The driver allocated that of the second for itself
 * during a call; its sizes are differences of NVML's figures before and after the call.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CUDA_SPACES_H
#define ML_CUDA_SPACES_H

#define ML_CUDA_DEVICE_PREFIX "cuda:"

#define ML_CUDA_MEMORY "cuda memory"   /* cuMemAlloc, cuMemAllocPitch */
#define ML_CUDA_VIRTUAL "cuda virtual" /* cuMemCreate, by address once mapped */
#define ML_CUDA_ARRAYS "cuda arrays"   /* arrays and mipmaps */
#define ML_CUDA_POOLS "cuda pools"     /* memory of stream-ordered pools */
#define ML_CUDA_GRAPHS "cuda graphs"   /* memory of graphs' memory nodes */

#define ML_CUDA_CONTEXT "cuda context"   /* cuInit, contexts */
#define ML_CUDA_MODULES "cuda modules"   /* modules, libraries, first launches */
#define ML_CUDA_LIMITS "cuda limits"     /* cuCtxSetLimit: stack, printf, heap */
#define ML_CUDA_ROUNDING "cuda rounding" /* allocations rounded up to pages */
#define ML_CUDA_OTHER "cuda other"       /* streams, events, first copies and fills */
/* In a process that used the driver before the recording began: everything that was there then and
 * that no other space has. The second is used if NVML does not say which process has how much: it
 * has the memory of all processes. */
#define ML_CUDA_BEFORE "cuda before"
#define ML_CUDA_BEFORE_ALL "cuda before, all processes"
/* All that no call of the program asked for by size. */
#define ML_CUDA_DRIVERS_OWN                                                                        \
    ML_CUDA_CONTEXT, ML_CUDA_MODULES, ML_CUDA_LIMITS, ML_CUDA_ROUNDING, ML_CUDA_OTHER,             \
        ML_CUDA_BEFORE, ML_CUDA_BEFORE_ALL

/* Blocks inside the pools above, at the level of blocks. */
#define ML_CUDA_ASYNC "cuda async" /* cuMemAllocAsync and similar calls */

/* Blocks on the device "cpu". */
#define ML_CUDA_PINNED "cuda pinned"         /* cuMemHostAlloc, cuMemAllocHost */
#define ML_CUDA_REGISTERED "cuda registered" /* cuMemHostRegister */

/* Not charged to a single device, or not to this process: on separate devices, driver level. */
#define ML_CUDA_MANAGED_DEVICE "cuda managed"
#define ML_CUDA_MANAGED "cuda managed"
#define ML_CUDA_IMPORTED_DEVICE "cuda imported"
#define ML_CUDA_IMPORTED "cuda imported" /* cuIpcOpenMemHandle and similar calls */

#endif
