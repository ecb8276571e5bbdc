/* cuda_spaces.h: the names of the spaces that the CUDA hooks fill and the ledger
 * reads. Devices are called "cuda:N", N as NVML and nvidia-smi count.
 *
 * At the level of the driver the sum of a device's spaces is what the driver
 * charges for it. The first group is what a program asked for, the second what
 * the driver took on its own account while it carried out a call; sizes there are
 * differences of what NVML said before and after.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CUDA_SPACES_H
#define ML_CUDA_SPACES_H

#define ML_CUDA_DEVICE_PREFIX "cuda:"

#define ML_CUDA_MEMORY "cuda memory"   /* cuMemAlloc, cuMemAllocPitch */
#define ML_CUDA_VIRTUAL "cuda virtual" /* cuMemCreate, by address once mapped */
#define ML_CUDA_ARRAYS "cuda arrays"   /* arrays and mipmaps */
#define ML_CUDA_POOLS "cuda pools"     /* what stream-ordered pools hold */
#define ML_CUDA_GRAPHS "cuda graphs"   /* what memory nodes of graphs hold */

#define ML_CUDA_CONTEXT "cuda context"   /* cuInit, contexts */
#define ML_CUDA_MODULES "cuda modules"   /* modules, libraries, first launches */
#define ML_CUDA_LIMITS "cuda limits"     /* cuCtxSetLimit: stack, printf, heap */
#define ML_CUDA_ROUNDING "cuda rounding" /* allocations rounded up to pages */
#define ML_CUDA_OTHER "cuda other"       /* streams, events, first copies and fills */
/* All of the second group. */
#define ML_CUDA_DRIVERS_OWN                                                                        \
    ML_CUDA_CONTEXT, ML_CUDA_MODULES, ML_CUDA_LIMITS, ML_CUDA_ROUNDING, ML_CUDA_OTHER

/* Blocks inside the pools above, at the level of blocks. */
#define ML_CUDA_ASYNC "cuda async" /* cuMemAllocAsync and its kin */

/* Blocks on the device "cpu". */
#define ML_CUDA_PINNED "cuda pinned"         /* cuMemHostAlloc, cuMemAllocHost */
#define ML_CUDA_REGISTERED "cuda registered" /* cuMemHostRegister */

/* Not charged to one device, or not to this process: on devices of their own,
 * driver level. */
#define ML_CUDA_MANAGED_DEVICE "cuda managed"
#define ML_CUDA_MANAGED "cuda managed"
#define ML_CUDA_IMPORTED_DEVICE "cuda imported"
#define ML_CUDA_IMPORTED "cuda imported" /* cuIpcOpenMemHandle and its kin */

#endif
