/* model_threads.h: which threads use models.
 *
 * PyTorch sets gradients without Python's lock: in backward, and for a moment when a program sets
 * one to None. One that another thread may be setting must not be looked at.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_MODEL_THREADS_H
#define ML_MODEL_THREADS_H

#include <stdbool.h>
#include <stdint.h>

/* This thread's number, from 1, never given to another thread. */
uint64_t ml_model_thread(void);

/* This thread runs backward. */
void ml_model_thread_trains(void);

/* Whether more than one thread has run backward. Others only call models. */
bool ml_model_threads_are_several(void);

#endif
