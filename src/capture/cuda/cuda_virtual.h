/* cuda_virtual.h: memory of cuMemCreate.
 *
 * It is charged from its creation until it is neither mapped nor held by a handle. In the book it
 * is at its handle until it is mapped, then at the address that the program uses, so that blocks
 * inside it are found by address. A second mapping of the same memory costs nothing and is not
 * entered.
 *
 * Called with the book's lock held.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CUDA_VIRTUAL_H
#define ML_CUDA_VIRTUAL_H

#include "cuda_state.h"

/* After cuMemCreate; `block` is the handle's. */
void ml_cuda_handle_made(struct ml_cuda_state *book, const struct ml_cuda_block *block);

void ml_cuda_handle_mapped(struct ml_cuda_state *book, uint64_t handle, uint64_t addr,
                           uint64_t bytes);

/* [addr, addr + bytes) was unmapped: whole mappings, maybe several.
 * @return a device that got memory back, or -1 */
int ml_cuda_range_unmapped(struct ml_cuda_state *book, uint64_t addr, uint64_t bytes);

/* The program holds the handle once more. */
void ml_cuda_handle_retained(struct ml_cuda_state *book, uint64_t handle);

/* Call before cuMemRelease; and after it, when it failed. *ret_old stays as it is when the handle
 * is unknown. */
void ml_cuda_handle_released(struct ml_cuda_state *book, uint64_t handle,
                             struct ml_cuda_block *ret_old);
void ml_cuda_handle_restored(struct ml_cuda_state *book, const struct ml_cuda_block *old);

#endif
