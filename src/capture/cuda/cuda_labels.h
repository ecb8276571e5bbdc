/* cuda_labels.h: whom the driver's memory is for, where a thread knows it: a private pool, such as
 * the one of CUDA graphs, or a communicator of NCCL. The allocation has a label, which the ledger
 * shows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CUDA_LABELS_H
#define ML_CUDA_LABELS_H

#include <stdint.h>

/* This thread's next allocations are for a private pool; `label` is the recorder's number. Calls
 * nest; the innermost label counts. Beyond a depth that no program needs, the labels of the outer
 * ones are lost. */
void ml_cuda_enter_private(uint32_t label);
void ml_cuda_leave_private(void);

/* This thread is in a call of NCCL for a communicator, whose label has ML_NCCL_LABEL in front. NCCL
 * works in threads of its own, too: while no other call is under way, allocations of threads that
 * are in none get the label as well. Not all of these need be NCCL's, so a reader looks at their
 * stacks. Calls nest; the outermost label counts. */
void ml_cuda_enter_communicator(uint32_t label);
void ml_cuda_leave_communicator(void);

/* Labels an allocation of this thread that was recorded just now, if it has a label. */
void ml_cuda_label(uint32_t space, uint64_t addr);

#endif
