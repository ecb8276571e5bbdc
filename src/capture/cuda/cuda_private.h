/* cuda_private.h: memory of the driver that a thread requests for a private pool, such as the one
 * of CUDA graphs: it has a label, which the ledger shows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CUDA_PRIVATE_H
#define ML_CUDA_PRIVATE_H

#include <stdint.h>

/* The label of this thread's next allocations, 0 if there is none; the recorder's number. */
extern __thread uint32_t ml_cuda_private_label;

/* Calls nest; the innermost label counts. Beyond a depth that no program needs, the labels of the
 * outer ones are lost. */
void ml_cuda_enter_private(uint32_t label);
void ml_cuda_leave_private(void);

#endif
