/* cuda_turns.h: the recorded processes of a run take turns on a device.
 *
 * The cost of a call shows in NVML's figure for the whole device. So while one process is in a call
 * that may change a device, the others wait before theirs. The total waiting time of a process is
 * limited: a process that does not return must not block the rest of the run.
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

/* Whether other recorded processes have memory on the device. */
bool ml_cuda_others_have_any(const struct ml_cuda_state *book, unsigned device);

/* Waits for another process to end, whose memory the driver is freeing. Precondition: this process
 * has a turn; otherwise it does not wait.
 * @used   NVML's figure
 * @return whether one has ended and is out of all books */
bool ml_cuda_await_end(struct ml_cuda_state *book, unsigned device, uint64_t used);

/* Bytes are added to the book, or removed. */
void ml_cuda_enter(struct ml_cuda_state *book, unsigned device, int64_t bytes);

/* NVML's figure less the bytes in the books of all recorded processes. */
int64_t ml_cuda_difference(unsigned device, const struct ml_cuda_reading *r);

#endif
