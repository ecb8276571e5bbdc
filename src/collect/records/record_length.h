/* record_length.h: where a record in a ring ends, and when it was written.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_RECORD_LENGTH_H
#define ML_RECORD_LENGTH_H

#include "stage.h"

/* Reads the record at s->tail: its length and stamp. False at s->end. A ring
 * with an invalid record is emptied, and the loss recorded in the trace. */
bool ml_source_peek(struct ml_stage *stage, struct ml_source *s);

/* The stamp of the last record in the ring of a process that no longer writes; 0: there is none. */
uint64_t ml_source_last_ticks(const struct ml_stage *stage, const struct ml_source *s);

/* Drops everything before s->end as damaged. */
void ml_source_skip(struct ml_stage *stage, struct ml_source *s);

#endif
