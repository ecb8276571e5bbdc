/* events_report.h: events, one line each, or as a JSON array.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REPORT_EVENTS_REPORT_H
#define ML_REPORT_EVENTS_REPORT_H

#include "events.h"
#include "json.h"
#include "style.h"

/* The columns that all lines have. */
struct ml_event_columns {
    size_t time, thread, space; /* their widths */
    bool narrow;                /* times in microseconds, threads without their process */
    bool no_times;              /* the trace has none */
};

/* Columns for the spaces and threads that the trace has. They fit the style's width, unless that
 * is very small. */
struct ml_event_columns ml_event_columns(const struct ml_trace *trace,
                                         const struct ml_style *style);

/* The titles above the lines, and the line of an event. A scope and details that exceed
 * the style's width go to indented lines below.
 * @return 0 or -ENOMEM */
int ml_events_text_head(const struct ml_event_columns *columns, struct ml_buf *out);
int ml_event_text(const struct ml_event_view *view, const struct ml_style *style,
                  const struct ml_event_columns *columns, struct ml_buf *out);

/* Appends an object to the open array. */
void ml_event_json(const struct ml_event_view *view, struct ml_json *json);

#endif
