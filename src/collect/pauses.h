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

#include <stdint.h>

struct ml_collector;

/* The pauses and ends of pauses before `until`, in ticks: at most one more than the clock's last
 * reading. Call before records stamped after them are taken, or a process that ended later is
 * removed. */
void ml_collector_take_pauses(struct ml_collector *c, uint64_t until);

/* Call after the last round: nothing more is recorded of a pause that goes on. */
void ml_collector_end_pause(struct ml_collector *c);

#endif
