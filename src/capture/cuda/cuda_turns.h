/* cuda_turns.h: the recorded processes of a run take turns on a device.
 *
 * What a call costs is seen in NVML's figure for the whole device, so while one
 * process is in a call that may change a device the others wait before theirs. A
 * process waits for a limited time in all: whoever does not come back must not
 * hold up the rest of the run.
 *
 * All functions are called with the book's lock held.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CUDA_TURNS_H
#define ML_CUDA_TURNS_H

#include "cuda_state.h"

/* A call begins or ends on the device; several threads share their process's turn.
 * @return whether another process may have changed the device since the last one */
bool ml_cuda_turn_begin(struct ml_cuda_state *book, unsigned device);
void ml_cuda_turn_end(struct ml_cuda_state *book, unsigned device);

/* Whether another process is in a call on the device. */
bool ml_cuda_turn_is_anothers(unsigned device);

/* Whether other recorded processes have memory of the device. */
bool ml_cuda_others_have_any(const struct ml_cuda_state *book, unsigned device);

/* Waits for the end of another process of which the driver takes memory back.
 * Precondition: this process has a turn; else it does not wait.
 * @used   NVML's figure
 * @return whether one has ended and is out of all books */
bool ml_cuda_await_end(struct ml_cuda_state *book, unsigned device, uint64_t used);

/* Bytes are entered into the book, or taken out. */
void ml_cuda_enter(struct ml_cuda_state *book, unsigned device, int64_t bytes);

/* NVML's figure less what all recorded processes have in their books. */
int64_t ml_cuda_difference(unsigned device, const struct ml_cuda_reading *r);

#endif
