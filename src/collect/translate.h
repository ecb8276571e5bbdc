/* translate.h: ring records into trace events.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TRANSLATE_H
#define ML_TRANSLATE_H

#include <stdbool.h>

#include "target.h"
#include "ticks.h"
#include "trace_writer.h"

/* What turning a record into an event takes. */
struct ml_stage {
    struct ml_dict *dict;
    struct ml_trace_writer *writer;
    struct ml_ticks *ticks;
    ML_VEC(struct ml_target *) targets; /* all that are being recorded */
};

/* Looks at the record at s->tail: its length and stamp. False at s->end. A ring
 * that makes no sense is emptied, and the loss entered in the trace. */
bool ml_source_peek(struct ml_stage *stage, struct ml_source *s);

/* Translates the record that ml_source_peek saw and steps over it. */
void ml_source_take(struct ml_stage *stage, struct ml_source *s);

/* The same for a run of plain allocations and frees with stamps before `limit`,
 * in one go. Returns the number of records taken, which may be 0. */
uint32_t ml_source_take_plain(struct ml_stage *stage, struct ml_source *s, uint64_t limit);

/* The ring's thread is new: gives it a number. */
void ml_source_open(struct ml_stage *stage, struct ml_source *s);

/* The ring's thread is gone and all is read. */
void ml_source_close(struct ml_stage *stage, struct ml_source *s);

/* Enters records that the target dropped since the last call. */
void ml_source_note_lost(struct ml_stage *stage, struct ml_source *s);
void ml_target_note_lost(struct ml_stage *stage, struct ml_target *t);

/* The process has ended. */
void ml_target_note_end(struct ml_stage *stage, struct ml_target *t);

#endif
