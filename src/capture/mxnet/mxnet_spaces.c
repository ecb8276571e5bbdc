/* mxnet_spaces.c: see mxnet_spaces.h. MXNet numbers the host's contexts too, cpu(0), cpu(1), for
 * programs that simulate several devices: they all have the same memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "mxnet_spaces.h"

#include <errno.h>
#include <stdatomic.h>

#include "compiler.h"
#include "cuda_places.h"
#include "cuda_nvml.h"
#include "event.h"
#include "memledger/memledger.h"
#include "names.h"
#include "recorder.h"

#define POOL_NAME "mxnet pool"
#define HOST_TYPES (ML_MXNET_CPU_SHARED + 1)

static const char *const host_devices[HOST_TYPES] = {
    [ML_MXNET_CPU] = "cpu",
    [ML_MXNET_CPU_PINNED] = "cpu_pinned",
    [ML_MXNET_CPU_SHARED] = "cpu_shared",
};

/* 0: not opened yet. Forked children keep them. */
static _Atomic uint32_t host_spaces[HOST_TYPES];
static _Atomic uint32_t cuda_spaces[ML_CUDA_DEVICES_MAX];
static _Atomic uint32_t pool_space;

static uint32_t cuda_space(unsigned ordinal)
{
    int device = ml_cuda_device((int)ordinal);

    /* Without a driver to ask, it has no allocations that could contain the blocks. */
    return ml_cuda_block_space(device >= 0 ? (unsigned)device : ordinal, ML_MXNET_SPACE_NAME);
}

static uint32_t open_space(_Atomic uint32_t *slot, int type, unsigned ordinal)
{
    int saved_errno = errno;
    uint32_t space = 0;

    if (ml_recorder_in_session())
        space = type == ML_MXNET_GPU
                    ? cuda_space(ordinal)
                    : ml_space_number(host_devices[type], MEMLEDGER_BLOCK, ML_MXNET_SPACE_NAME);
    atomic_store_explicit(slot, space, memory_order_relaxed);
    errno = saved_errno;
    return space;
}

uint32_t ml_mxnet_space(int type, int id)
{
    bool is_gpu = type == ML_MXNET_GPU && id >= 0 && id < ML_CUDA_DEVICES_MAX;
    _Atomic uint32_t *slot;
    uint32_t space;

    if (!is_gpu && (type < 0 || type >= HOST_TYPES || !host_devices[type]))
        return 0;
    slot = is_gpu ? &cuda_spaces[id] : &host_spaces[type];
    space = atomic_load_explicit(slot, memory_order_relaxed);
    return ML_LIKELY(space) ? space : open_space(slot, type, (unsigned)id);
}

uint32_t ml_mxnet_pool_space(void)
{
    uint32_t space = atomic_load_explicit(&pool_space, memory_order_relaxed);
    int saved_errno = errno;

    if (ML_LIKELY(space) || !ml_recorder_in_session())
        return space;
    space = ml_space_number(host_devices[ML_MXNET_CPU], MEMLEDGER_POOL, POOL_NAME);
    atomic_store_explicit(&pool_space, space, memory_order_relaxed);
    errno = saved_errno;
    return space;
}
