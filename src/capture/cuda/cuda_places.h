/* cuda_places.h: the device of a call and the space that its bytes are in.
 *
 * Devices are numbered as in NVML, so that the program's charges match the sampler's readings,
 * whatever CUDA_VISIBLE_DEVICES says. Without NVML they are numbered as in CUDA.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CUDA_PLACES_H
#define ML_CUDA_PLACES_H

#include <stdint.h>

enum ml_cuda_space {
    ML_IN_MEMORY,
    ML_IN_VIRTUAL,
    ML_IN_ARRAYS,
    ML_IN_POOLS,
    ML_IN_GRAPHS,
    ML_IN_CONTEXT,
    ML_IN_MODULES,
    ML_IN_LIMITS,
    ML_IN_ROUNDING,
    ML_IN_OTHER,
    ML_IN_BEFORE,
    ML_IN_BEFORE_ALL,
    ML_IN_ASYNC,
    ML_IN_PINNED, /* this and the rest: the same for all devices */
    ML_IN_REGISTERED,
    ML_IN_MANAGED,
    ML_IN_IMPORTED,
    ML_CUDA_SPACES,
};

/* The device with that CUDA ordinal, and the device of this thread's context; -1: unknown. */
int ml_cuda_device(int ordinal);
int ml_cuda_current_device(void);

/* This thread's context, 0: none. */
uint64_t ml_cuda_current_context(void);

/* The number of a string or space, as records contain it; 0 when there is no room. */
uint32_t ml_cuda_device_name(unsigned device);
uint32_t ml_cuda_space(unsigned device, enum ml_cuda_space space);

/* The same for blocks of an allocator that divides the driver's memory. Looks it up each time. */
uint32_t ml_cuda_block_space(unsigned device, const char *name);

#endif
