/* ended_threads.h: frees the rings of threads that have ended.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ENDED_THREADS_H
#define ML_ENDED_THREADS_H

#include "stage.h"

/* Frees the rings that are read to their end and whose threads have ended.
 * @check_threads  also ask the kernel which threads are alive: some end without a word
 * @return whether nothing of the target is left to read */
bool ml_target_close_ended(struct ml_stage *stage, struct ml_target *t, bool check_threads);

#endif
