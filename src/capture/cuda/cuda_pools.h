/* cuda_pools.h: the memory of stream-ordered pools and graphs.
 *
 * Both take memory from the device in large steps and release it when the driver decides to, at the
 * next synchronisation at the earliest. A query of the current size takes the driver 40 ns, so it
 * is made after every call that may have changed it.
 *
 * Called with the book's lock held.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CUDA_POOLS_H
#define ML_CUDA_POOLS_H

#include "cuda_state.h"

/* Whether the book has looked at it before. */
bool ml_cuda_pool_is_known(struct ml_cuda_state *book, uint64_t pool);

/* Whether its size differs from that at the last look, or there was no look. May be called without
 * the lock. */
bool ml_cuda_pool_has_changed(struct ml_cuda_state *book, uint64_t pool);

/* Enters the current size of the pool. */
void ml_cuda_pool_look(struct ml_cuda_state *book, uint64_t pool, unsigned device, uint32_t stack);

/* The same with a size that the driver has given, without a question to it. */
void ml_cuda_pool_enter(struct ml_cuda_state *book, uint64_t pool, unsigned device,
                        uint64_t reserved);

/* Makes a pool known that is older than the recording: moves its size from the account of such
 * memory to that of pools. Does nothing if it is known. */
void ml_cuda_pool_adopt(struct ml_cuda_state *book, uint64_t pool, unsigned device);

/* Enters the current sizes of all known pools. */
void ml_cuda_pools_look(struct ml_cuda_state *book, uint32_t stack);

/* Notes that the pool is being destroyed, or that this failed. The driver releases its memory when
 * its last block is freed, and no longer answers queries about it: NVML shows it. */
void ml_cuda_pool_set_ended(struct ml_cuda_state *book, uint64_t pool, bool ended);

/* A pool was created: an earlier one with the same handle is gone for good. */
void ml_cuda_pool_is_new(struct ml_cuda_state *book, uint64_t pool);

/* Enters the memory that destroyed pools have released. */
void ml_cuda_ended_pools_look(struct ml_cuda_state *book);

/* Enters the current memory of graphs on the device with that CUDA ordinal. */
void ml_cuda_graphs_look(struct ml_cuda_state *book, int ordinal, uint32_t stack);

/* The same with a size that the driver has given, for the device with that number of NVML. */
void ml_cuda_graphs_enter(struct ml_cuda_state *book, unsigned device, uint64_t reserved,
                          uint32_t stack);

#endif
