/* cuda_charges.h: what the driver takes on its own account, by cause.
 *
 * NVML's figure for a device is compared with what is booked there. What a call
 * adds to the difference is that call's doing: it is entered under the call's
 * cause. What the difference drifts between calls is nobody's: it stays
 * unexplained. While several threads are in calls that may change a device's
 * memory nobody can tell whose the difference is: the last of them to come back
 * gets it. Processes take turns (cuda_turns.h).
 *
 * All functions are called with the book's lock held.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CUDA_CHARGES_H
#define ML_CUDA_CHARGES_H

#include "cuda_state.h"

/* A driver page: allocations are rounded up to it. */
#define ML_CUDA_PAGE_BYTES (2u << 20)

struct ml_cuda_cause {
    enum ml_cuda_space account;
    uint32_t stack;
    uint64_t owner; /* context or pool, 0: none */
    /* The most that a call can have added or taken; what is beyond is not its
     * doing. */
    uint64_t most_up, most_down;
};

#define ML_CUDA_ANY_BYTES ((uint64_t)INT64_MAX)

/* Adds to an account, or takes from it: its own owner's newest entries first, no
 * more than there is. */
void ml_cuda_charge(struct ml_cuda_state *book, unsigned device, const struct ml_cuda_cause *cause,
                    int64_t bytes);

/* Takes off all that stands for an owner, on every account of the device. */
void ml_cuda_charges_end(struct ml_cuda_state *book, unsigned device, uint64_t owner);

/* Whether anything stands for an owner on an account. */
bool ml_cuda_is_charged(const struct ml_cuda_state *book, unsigned device,
                        enum ml_cuda_space account, uint64_t owner);

/* Before a call: what has drifted since the last look is not its doing. The first
 * look at a device is recorded as a sample. */
void ml_cuda_look(struct ml_cuda_state *book, unsigned device);

/* After a call: enters what it changed, and records NVML's reading as a sample. */
void ml_cuda_settle(struct ml_cuda_state *book, unsigned device, const struct ml_cuda_cause *cause);

/* After a call, before that: up to so many bytes of what it added are entered
 * nowhere.
 * @return how many */
uint64_t ml_cuda_let_pass(struct ml_cuda_state *book, unsigned device, uint64_t most);

/* Records a reading alone; `bits` are added to its own. */
void ml_cuda_sample(struct ml_cuda_state *book, unsigned device, uint32_t bits);

#endif
