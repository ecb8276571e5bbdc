/* cuda_async.h: blocks from stream-ordered pools.
 *
 * A framework may ask for thousands of them in a training step, so each costs four queries to the
 * driver, tens of nanoseconds each, no NVML reading and mostly no stack. Only the first block of a
 * pool is measured, because it makes the driver take more than the pool holds.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CUDA_ASYNC_H
#define ML_CUDA_ASYNC_H

#include "cuda_call.h"
#include "cuda_state.h"

/* Whether to record the caller's stack: when the pool grew, otherwise at most 500 times a second in
 * each thread. */
bool ml_cuda_async_asks(struct ml_cuda_state *book, struct ml_cuda_call *call);

/* For ML_CUDA_ALLOC_ASYNC and ML_CUDA_ALLOC_POOL. */
void ml_cuda_async_begin(struct ml_cuda_state *book, struct ml_cuda_call *call);
void ml_cuda_async_end(struct ml_cuda_state *book, struct ml_cuda_call *call, bool ok,
                       uint32_t stack);

#endif
