/* translate.h: translates ring records into trace events.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TRANSLATE_H
#define ML_TRANSLATE_H

#include "stage.h"

/* Translates the record that ml_source_peek saw and steps over it. */
void ml_source_take(struct ml_stage *stage, struct ml_source *s);

/* The same for a sequence of plain allocations and frees with stamps before `limit`,
 * at once. Returns the number of records taken, which may be 0. */
uint32_t ml_source_take_plain(struct ml_stage *stage, struct ml_source *s, uint64_t limit);

#endif
