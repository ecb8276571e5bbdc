/* cuda_pools.h: what stream-ordered pools and graphs hold.
 *
 * Both take memory from the device in large steps and give it back when the
 * driver sees fit, at the next synchronisation at the earliest. How much they
 * hold the driver tells for 40 ns, so it is asked after every call that may have
 * changed it.
 *
 * Called with the book's lock held.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CUDA_POOLS_H
#define ML_CUDA_POOLS_H

#include "cuda_state.h"

/* Whether it was looked at before. */
bool ml_cuda_pool_is_known(struct ml_cuda_state *book, uint64_t pool);

/* Whether it holds more or less than at the last look, or was never looked at. May
 * be called without the lock. */
bool ml_cuda_pool_has_changed(struct ml_cuda_state *book, uint64_t pool);

/* Enters what the pool holds now. */
void ml_cuda_pool_look(struct ml_cuda_state *book, uint64_t pool, unsigned device, uint32_t stack);

/* The same for all pools that were seen. */
void ml_cuda_pools_look(struct ml_cuda_state *book, uint32_t stack);

/* The pool is being destroyed, or after all not. What it holds the driver lets go
 * when its last block is freed, and no longer tells: NVML does. */
void ml_cuda_pool_set_ended(struct ml_cuda_state *book, uint64_t pool, bool ended);

/* A pool was made: one that had the same handle is gone for good. */
void ml_cuda_pool_is_new(struct ml_cuda_state *book, uint64_t pool);

/* Enters what such pools have let go. */
void ml_cuda_ended_pools_look(struct ml_cuda_state *book);

/* Enters what graphs hold now on the device with that CUDA ordinal. */
void ml_cuda_graphs_look(struct ml_cuda_state *book, int ordinal, uint32_t stack);

#endif
