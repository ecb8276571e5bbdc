/* losses.h: records in the trace what was lost, and how much of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_LOSSES_H
#define ML_LOSSES_H

#include "stage.h"

/* Writes an event of kind `lost`.
 * @thread  its number in the trace; 0: of no thread */
void ml_stage_emit_lost(struct ml_stage *stage, uint32_t thread, uint64_t count,
                        enum ml_lost_reason reason);

/* Records in the trace how many records the target dropped since the last call. */
void ml_source_note_lost(struct ml_stage *stage, struct ml_source *s);
void ml_target_note_lost(struct ml_stage *stage, struct ml_target *t);

/* The same for records of processes that have no rings. */
void ml_stage_note_lost(struct ml_stage *stage, uint64_t count);

/* The same for names that the dictionary had no room for. */
void ml_stage_note_unkept(struct ml_stage *stage);

#endif
