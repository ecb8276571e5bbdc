/* cuda_charges.h: memory that the driver takes for itself, by cause.
 *
 * The book compares NVML's figure for a device with the bytes booked there. If a call increases the
 * difference, the increase is entered under the call's cause. A drift of the difference between
 * calls stays unexplained. A process that is not recorded and begins or ends during a call changes
 * the figure too; NVML's list of processes then tells this one's part. While several threads are in
 * calls that may change a device's memory, the difference cannot be divided: the last call to
 * return gets it, up to its own limit for each of them. Processes take turns (cuda_turns.h).
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
    /* The most that a call can have added or taken; a larger change has another cause. */
    uint64_t most_up, most_down;
};

#define ML_CUDA_ANY_BYTES ((uint64_t)INT64_MAX)

/* Adds to an account, or takes from it: the owner's newest entries first, no more than there is. */
void ml_cuda_charge(struct ml_cuda_state *book, unsigned device, const struct ml_cuda_cause *cause,
                    int64_t bytes);

/* Removes everything that is charged to an owner, on every account of the device. */
void ml_cuda_charges_end(struct ml_cuda_state *book, unsigned device, uint64_t owner);

/* Whether anything is charged to an owner on an account. */
bool ml_cuda_is_charged(const struct ml_cuda_state *book, unsigned device,
                        enum ml_cuda_space account, uint64_t owner);

/* Call before a call: a drift since the last look does not count as the call's. The first look at a
 * device is recorded as a sample. */
void ml_cuda_look(struct ml_cuda_state *book, unsigned device);

/* Call after a call: enters the change, and records NVML's reading as a sample. A call that gives
 * back more than its account has, gives back memory that is older than the recording. */
void ml_cuda_settle(struct ml_cuda_state *book, unsigned device, const struct ml_cuda_cause *cause);

/* Bytes that are in NVML's figure from now on, or no longer, and in no book. */
void ml_cuda_leave_out(struct ml_cuda_state *book, unsigned device, int64_t bytes);

/* Call after a call, before ml_cuda_settle: leaves out up to `most` bytes that the call added.
 * @return how many */
uint64_t ml_cuda_let_pass(struct ml_cuda_state *book, unsigned device, uint64_t most);

/* The account of memory that is older than the recording. */
enum ml_cuda_space ml_cuda_before_account(const struct ml_cuda_state *book, unsigned device);

/* Enters what NVML reports beyond other processes' memory and beyond the books as older than the
 * recording, and records the reading.
 * @users  of the device, just before; NULL: not known, others' memory is entered too */
void ml_cuda_enter_before(struct ml_cuda_state *book, unsigned device,
                          const struct ml_cuda_users *users);

/* Records only a reading; `bits` are added to its own. */
void ml_cuda_sample(struct ml_cuda_state *book, unsigned device, uint32_t bits);

#endif
