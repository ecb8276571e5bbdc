/* device_figures.c: see device_figures.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "device_figures.h"

#include <string.h>

#include "checkpoints.h"
#include "landmarks.h"

struct reading {
    const struct ml_trace *trace;
    uint64_t events; /* up to the instant */
    uint64_t read;   /* so far */
    struct ml_device_figures *list;
    size_t count;
};

static struct ml_device_figures *find(const struct reading *r, uint64_t string)
{
    const char *name =
        string <= UINT32_MAX ? ml_trace_string(r->trace, (uint32_t)string, NULL) : "";

    for (size_t i = 0; i < r->count; i++)
        if (strcmp(r->list[i].device, name) == 0)
            return &r->list[i];
    return NULL;
}

static void take(const struct reading *r, const struct ml_event *event, bool up_to_it)
{
    struct ml_device_figures *f = event->kind == ML_SAMPLE ? find(r, event->args[0]) : NULL;
    uint64_t bits = event->args[1];

    if (!f)
        return;
    if ((bits & ML_SAMPLE_TOTAL) && (up_to_it || !f->total.known))
        f->total = (struct ml_seen){true, event->args[4]};
    if (up_to_it && (bits & ML_SAMPLE_USED))
        f->used = (struct ml_seen){true, event->args[2]};
    if (up_to_it && (bits & ML_SAMPLE_FREE)) {
        f->free = (struct ml_seen){true, event->args[3]};
        f->time_ns = event->time_ns;
    }
}

static int take_earlier(void *ctx, const struct ml_event *event)
{
    take(ctx, event, true);
    return 0;
}

static int take_later(void *ctx, const struct ml_event *event)
{
    take(ctx, event, false);
    return 0;
}

static int take_counted(void *ctx, const struct ml_event *event)
{
    struct reading *r = ctx;

    take(r, event, ++r->read <= r->events);
    return 0;
}

/* Samples of the instant's own nanosecond may be before or after its event. */
static int take_around(struct reading *r, uint64_t time_ns, struct ml_error *err)
{
    const struct ml_event *batch;
    struct ml_cursor *cursor = NULL;
    int n = 1, code = ml_cursor_open(r->trace, 0, time_ns, &cursor, err);

    r->read = time_ns > 0 ? ml_trace_events_by(r->trace, time_ns - 1) : 0;
    if (code == 0)
        ml_cursor_skip(cursor, r->read);
    while (code == 0 && (n = ml_cursor_next(cursor, &batch, err)) > 0)
        for (int i = 0; i < n; i++)
            if (++r->read && batch[i].time_ns == time_ns)
                take(r, &batch[i], r->read <= r->events);
    ml_cursor_free(cursor);
    return code < 0 ? code : n;
}

static bool has_copies(const struct ml_trace *trace)
{
    struct ml_checkpoints checkpoints = {0};
    bool has = ml_checkpoints_open(trace, &checkpoints) == 0 && checkpoints.has_landmarks;

    ml_checkpoints_release(&checkpoints);
    return has;
}

int ml_device_figures(const struct ml_trace *trace, uint64_t events, uint64_t time_ns,
                      struct ml_device_figures *list, size_t count, struct ml_error *err)
{
    struct reading reading = {.trace = trace, .events = events, .list = list, .count = count};
    int r = 0;

    if (!has_copies(trace))
        return ml_each_event(trace, take_counted, &reading, err);
    if (time_ns > 0)
        r = ml_each_landmark(trace, ML_BLOCK_SAMPLES, 0, time_ns - 1, take_earlier, &reading, err);
    if (r == 0)
        r = take_around(&reading, time_ns, err);
    if (r == 0 && time_ns < UINT64_MAX)
        r = ml_each_landmark(trace, ML_BLOCK_SAMPLES, time_ns + 1, UINT64_MAX, take_later, &reading,
                             err);
    return r;
}
