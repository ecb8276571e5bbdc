/* each_event.h: the loop of an analysis that visits every event once, in order.
 *
 * Inline, so that the function is called directly: there are millions of events.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TRACE_EACH_EVENT_H
#define ML_TRACE_EACH_EVENT_H

#include "compiler.h"
#include "trace.h"

/* @return 0 or -ENOMEM */
typedef int ml_event_fn(void *ctx, const struct ml_event *event);

/* Calls `fn` with each event of the cursor until it fails, and frees the cursor.
 * @return 0 or negative errno, with the reason in `err` */
static ML_ALWAYS_INLINE int ml_each_event_of(struct ml_cursor *cursor, ml_event_fn *fn, void *ctx,
                                             struct ml_error *err)
{
    const struct ml_event *events;
    int n = 0, r = 0;

    while (r == 0 && (n = ml_cursor_next(cursor, &events, err)) > 0)
        for (int i = 0; i < n && r == 0; i++) {
            r = fn(ctx, &events[i]);
            if (r < 0)
                ml_error_set(err, r, "out of memory");
        }
    ml_cursor_free(cursor);
    return r < 0 ? r : n;
}

/* The same with each event of the trace. */
static ML_ALWAYS_INLINE int ml_each_event(const struct ml_trace *trace, ml_event_fn *fn, void *ctx,
                                          struct ml_error *err)
{
    struct ml_cursor *cursor;
    int r = ml_cursor_open(trace, 0, UINT64_MAX, &cursor, err);

    return r < 0 ? r : ml_each_event_of(cursor, fn, ctx, err);
}

#endif
