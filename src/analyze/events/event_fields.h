/* event_fields.h: what each kind of event tells, as keys and values. Only
 * events.c includes it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_EVENT_FIELDS_H
#define ML_ANALYZE_EVENT_FIELDS_H

#include "events.h"

/* Fills in the fields of the view's event.
 * @freed  the block that the event frees, NULL if it frees none */
void ml_event_fields(const struct ml_trace *trace, const struct ml_block *freed,
                     struct ml_event_view *view);

#endif
