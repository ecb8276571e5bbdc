/* cuda_blocks.h: the driver's allocations, by address. Called with the book's lock held.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CUDA_BLOCKS_H
#define ML_CUDA_BLOCKS_H

#include "cuda_state.h"

/* False when there is no room; replaces one with the same sort and address. */
bool ml_cuda_blocks_put(struct ml_cuda_state *book, const struct ml_cuda_block *block);

/* NULL: there is none. Valid until the next put or remove. */
struct ml_cuda_block *ml_cuda_blocks_find(struct ml_cuda_state *book, enum ml_cuda_sort sort,
                                          uint64_t addr);

/* Forgets all of them. */
void ml_cuda_blocks_clear(struct ml_cuda_state *book);
void ml_cuda_blocks_remove(struct ml_cuda_state *book, struct ml_cuda_block *block);

#endif
