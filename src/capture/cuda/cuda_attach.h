/* cuda_attach.h: a recording of the CUDA driver that begins while the process runs.
 *
 * The program has found the driver's functions, and has contexts, code and memory. The memory of an
 * allocator that can be asked (PyTorch's segments), of pools and of graphs gets entries as in a
 * recording from the start. The rest cannot be listed: what NVML charges beyond all entries is one
 * entry of its own, "before". It shrinks when a call gives older memory back.
 *
 *     prepare   before the recording: the program's calls lead through the hooks
 *     begin     the recording has begun
 *     block     any number of older allocations
 *     adopt     the rest; waits for a moment without a call under way
 *     end       before the recording ends; also after a failure
 *
 * One thread at a time. Nothing here starts the driver.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CUDA_ATTACH_H
#define ML_CUDA_ATTACH_H

#include "cuda_call.h"
#include "cuda_state.h"

void ml_cuda_attach_prepare(void);
void ml_cuda_attach_begin(void);

/* Enters an allocation of cuMemAlloc, or each handle of virtual memory that is mapped there. Does
 * nothing if it is known, or was freed since ml_cuda_attach_prepare. */
void ml_cuda_attach_block(int ordinal, uint64_t addr, uint64_t bytes, bool is_virtual);
void ml_cuda_attach_adopt(void);
void ml_cuda_attach_end(void);

/* ---- For the book, with its lock held ---- */

/* Call before the driver frees a block that is not in the book. */
void ml_cuda_older_freed(struct ml_cuda_state *book, struct ml_cuda_call *call);

/* The driver did not free it. */
void ml_cuda_older_kept(struct ml_cuda_state *book, const struct ml_cuda_block *old);

/* Call after a call that may have given older memory back: NVML says how much. */
void ml_cuda_older_settle(struct ml_cuda_state *book, unsigned device);
void ml_cuda_older_settle_here(struct ml_cuda_state *book); /* on the current device */

#endif
