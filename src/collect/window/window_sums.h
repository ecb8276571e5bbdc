/* window_sums.h: the counters and peaks of everything that was dropped, so that those of a
 * recording that keeps only its last part go back to its start.
 *
 * They count as a replay does: of each device of each process the spaces of the highest level. A
 * block that the program reports itself is taken to be in its heap, if that is recorded: finding
 * the block around each one would need a replay.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_WINDOW_SUMS_H
#define ML_WINDOW_SUMS_H

#include "defs.h"
#include "window_state.h"

/* Takes a definition, after the state has. @return 0 or -ENOMEM */
int ml_window_sums_define(struct ml_window_state *s, const struct ml_def *def);

/* Takes an event, after the live blocks have. @live_before  bytes of its space before it */
void ml_window_sums_feed(struct ml_window_state *s, const struct ml_event *e, uint64_t live_before);

/* The process has ended, or was replaced: its memory is no longer live. */
void ml_window_sums_end(struct ml_window_state *s, uint32_t process, uint64_t time_ns);

/* The space is gone: its counters become part of a sum. */
void ml_window_sums_forget(struct ml_window_state *s, uint32_t space);

/* Allocations, without those that the file repeats, and frees, in counted spaces. */
struct ml_window_counts {
    uint64_t allocations, frees;
};
struct ml_window_counts ml_window_sums_counts(const struct ml_window_state *s);

/* Steps, without the one whose mark the file repeats. */
uint64_t ml_window_sums_steps(const struct ml_window_state *s);

#endif
