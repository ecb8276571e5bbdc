/* leftovers.h: processes that outlive the program they worked for.
 *
 * A program is over when its main process ends, but helpers notice that a moment later: compile
 * workers, workers of a DataLoader. A report about the end is about the program, so such helpers
 * must not decide when that was.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_LEFTOVERS_H
#define ML_ANALYZE_LEFTOVERS_H

#include <stdbool.h>
#include <stdint.h>

#include "replay.h"

/* A leftover goes on after the end of an ancestor that had memory, for less time than it ran before
 * that end, and without more memory than it had had by then. A server that its launcher leaves
 * behind is none: it does its work afterwards. */

/* Whether the end of a process is, so far, that of the program on the device (-1: on any): it had
 * memory there and is no leftover.
 * @event  ML_PROCESS_END, not fed yet */
bool ml_replay_ends_program(const struct ml_replay *replay, const struct ml_event *event,
                            int64_t device);

/* Whether live memory on the device (-1: on any) belongs to a process that is no leftover.
 * @now_ns  the time up to which processes that have not ended have lived */
bool ml_replay_program_has_memory(const struct ml_replay *replay, int64_t device, uint64_t now_ns);

#endif
