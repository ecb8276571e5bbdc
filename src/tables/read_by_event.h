/* read_by_event.h: tables with at most one row for each event.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_READ_BY_EVENT_H
#define ML_READ_BY_EVENT_H

#include "read_table.h"
#include "replay.h"

/* The open and close of such a table. */
int ml_by_event_open(const struct ml_trace *trace, void **ret_state, struct ml_error *err);
void ml_by_event_close(void *state);

/* The same for a table whose rows need the block that an event frees, which requires a
 * replay. */
int ml_by_event_open_replay(const struct ml_trace *trace, void **ret_state, struct ml_error *err);

/* Adds a row for the event if it has one, and ends it with ml_batch_end_row.
 * @freed  the block that the event frees; NULL: none, or not requested */
typedef void ml_event_row_fn(struct ml_batch *b, const struct ml_event *event,
                             const struct ml_block *freed);

/* The fill of such a table. */
int ml_by_event_fill(void *state, struct ml_batch *b, ml_event_row_fn *row, struct ml_error *err);

#endif
