/* events_report.h: events, one line each, or as a JSON array.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REPORT_EVENTS_REPORT_H
#define ML_REPORT_EVENTS_REPORT_H

#include "events.h"
#include "json.h"
#include "style.h"

/* How wide the column of the spaces is, for those that the trace has. */
size_t ml_events_space_width(const struct ml_trace *trace);

/* The titles above the lines, and a line. @return 0 or -ENOMEM */
int ml_events_text_head(size_t space_width, struct ml_buf *out);
int ml_event_text(const struct ml_event_view *view, const struct ml_style *style,
                  size_t space_width, struct ml_buf *out);

/* An object, into the array that is open. */
void ml_event_json(const struct ml_event_view *view, struct ml_json *json);

#endif
