/* pauses.h: pauses of the recording, in the trace.
 *
 * A mark says when the recording was paused and when it was resumed. Blocks of malloc are unknown
 * after a pause, because their frees are not recorded meanwhile: at both ends of a pause the
 * collector writes that all of them are freed, so that no report takes them for leaks. See turns.h
 * for what the recorder does.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_PAUSES_H
#define ML_PAUSES_H

struct ml_collector;

/* Call in each round, before its records are taken. */
void ml_collector_take_pauses(struct ml_collector *c);

/* Call after the last round: nothing more is recorded of a pause that goes on. */
void ml_collector_end_pause(struct ml_collector *c);

#endif
