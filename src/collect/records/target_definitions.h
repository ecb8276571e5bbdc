/* target_definitions.h: records that define what a target's numbers mean: strings, spaces and
 * objects. Libraries, frames and stacks are in target_stacks.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TARGET_DEFINITIONS_H
#define ML_TARGET_DEFINITIONS_H

#include "stage.h"

void ml_target_take_string(struct ml_stage *stage, struct ml_source *s);
void ml_target_take_space(struct ml_source *s);
void ml_target_take_object(struct ml_stage *stage, struct ml_source *s);

/* Defines a space at its first event. A space whose announcement
 * was lost is called unknown. False: it cannot be defined. */
ML_NOINLINE bool ml_target_define_space(struct ml_stage *stage, struct ml_target *t,
                                        uint32_t number);

/* Whether the space has a number in the trace by now. */
static inline bool ml_target_know_space(struct ml_stage *stage, struct ml_target *t,
                                        uint32_t number)
{
    return ML_LIKELY(number < t->spaces.len && t->spaces.items[number].id) ||
           ml_target_define_space(stage, t, number);
}

#endif
