/* cuda_older.h: memory of the CUDA driver that is older than the recording; see cuda_attach.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CUDA_OLDER_H
#define ML_CUDA_OLDER_H

#include "cuda_call.h"
#include "cuda_state.h"

/* From ml_cuda_attach_prepare to ml_cuda_attach_adopt: older memory may still be entered. */
extern _Atomic bool ml_cuda_adopting;

/* Enters an allocation of cuMemAlloc, or each handle of virtual memory that is mapped there. Does
 * nothing if it is known, or was freed since ml_cuda_attach_prepare. Asks the driver without the
 * book's lock. For the thread that attaches. */
void ml_cuda_older_block(int ordinal, uint64_t addr, uint64_t bytes, bool is_virtual);

/* ---- For the book, with its lock held ---- */

/* Call before the driver frees a block that is not in the book. */
void ml_cuda_older_freed(struct ml_cuda_state *book, struct ml_cuda_call *call);

/* The driver did not free it. */
void ml_cuda_older_kept(struct ml_cuda_state *book, const struct ml_cuda_block *old);

/* Call after a call that may have given older memory back: NVML says how much. */
void ml_cuda_older_settle(struct ml_cuda_state *book, unsigned device);
void ml_cuda_older_settle_here(struct ml_cuda_state *book); /* on the current device */

#endif
