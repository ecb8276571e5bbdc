/* torch_spaces.c: see torch_spaces.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "torch_spaces.h"

#include <errno.h>

#include "cuda_places.h"
#include "cuda_resolve.h"
#include "event.h"
#include "memledger/memledger.h"
#include "names.h"
#include "recorder.h"

ML_READ_ALWAYS _Atomic uint32_t ml_torch_cuda_numbers[ML_CUDA_DEVICES_MAX];
ML_READ_ALWAYS _Atomic uint32_t ml_torch_cpu_number;

uint32_t ml_torch_open_cpu(void)
{
    int saved_errno = errno;
    uint32_t space = 0;

    if (ml_recorder_in_session())
        space = ml_space_number("cpu", MEMLEDGER_BLOCK, ML_TORCH_SPACE_NAME);
    atomic_store_explicit(&ml_torch_cpu_number, space, memory_order_relaxed);
    errno = saved_errno;
    return space;
}

/* On the same device as the driver's allocations that contain the blocks. */
uint32_t ml_torch_open_cuda(unsigned ordinal)
{
    int saved_errno = errno;
    uint32_t space = 0;
    int device;

    if (!ml_recorder_in_session())
        return 0;
    /* No hook has seen the driver there, and without it devices cannot be distinguished. */
    if (ml_recorder_is_late())
        ml_cuda_resolve();
    device = ml_cuda_device((int)ordinal);
    /* Without a driver to ask, it has no allocations that could contain the blocks. */
    space = ml_cuda_block_space(device >= 0 ? (unsigned)device : ordinal, ML_TORCH_SPACE_NAME);
    atomic_store_explicit(&ml_torch_cuda_numbers[ordinal], space, memory_order_relaxed);
    errno = saved_errno;
    return space;
}

void ml_torch_close_spaces(void)
{
    atomic_store_explicit(&ml_torch_cpu_number, 0, memory_order_relaxed);
    for (unsigned i = 0; i < ML_CUDA_DEVICES_MAX; i++)
        atomic_store_explicit(&ml_torch_cuda_numbers[i], 0, memory_order_relaxed);
}
