/* torch_spaces.h: the spaces of PyTorch's blocks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TORCH_SPACES_H
#define ML_TORCH_SPACES_H

#include <stdatomic.h>
#include <stdint.h>

#include "compiler.h"
#include "cuda_nvml.h"

/* By CUDA ordinal, and the host's; 0: not opened yet, or nothing is recorded. Forked children keep
 * them. */
extern _Atomic uint32_t ml_torch_cpu_number;
extern _Atomic uint32_t ml_torch_cuda_numbers[ML_CUDA_DEVICES_MAX];

/* Opens it if there is a session, otherwise returns 0. Keeps errno. */
uint32_t ml_torch_open_cpu(void);
uint32_t ml_torch_open_cuda(unsigned ordinal);

/* Call when a recording has ended; the next one opens them again. */
void ml_torch_close_spaces(void);

static ML_ALWAYS_INLINE uint32_t ml_torch_cpu_space(void)
{
    uint32_t space = atomic_load_explicit(&ml_torch_cpu_number, memory_order_relaxed);

    return ML_LIKELY(space) ? space : ml_torch_open_cpu();
}

/* The space of that ordinal, 0 for an ordinal without a device. */
static ML_ALWAYS_INLINE uint32_t ml_torch_cuda_space(int ordinal)
{
    uint32_t space;

    if (ML_UNLIKELY(ordinal < 0 || ordinal >= ML_CUDA_DEVICES_MAX))
        return 0;
    space = atomic_load_explicit(&ml_torch_cuda_numbers[ordinal], memory_order_relaxed);
    return ML_LIKELY(space) ? space : ml_torch_open_cuda((unsigned)ordinal);
}

#endif
