/* device_figures.c: see device_figures.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "device_figures.h"

#include <string.h>

static struct ml_device_figures *find(const struct ml_trace *trace, uint64_t string,
                                      struct ml_device_figures *list, size_t count)
{
    const char *name = string <= UINT32_MAX ? ml_trace_string(trace, (uint32_t)string, NULL) : "";

    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i].device, name) == 0)
            return &list[i];
    return NULL;
}

static void take(struct ml_device_figures *f, const struct ml_event *event, bool up_to_it)
{
    uint64_t bits = event->args[1];

    if ((bits & ML_SAMPLE_TOTAL) && (up_to_it || !f->total.known))
        f->total = (struct ml_seen){true, event->args[4]};
    if (up_to_it && (bits & ML_SAMPLE_USED))
        f->used = (struct ml_seen){true, event->args[2]};
    if (up_to_it && (bits & ML_SAMPLE_FREE)) {
        f->free = (struct ml_seen){true, event->args[3]};
        f->time_ns = event->time_ns;
    }
}

int ml_device_figures(const struct ml_trace *trace, uint64_t events, struct ml_device_figures *list,
                      size_t count, struct ml_error *err)
{
    const struct ml_event *batch;
    struct ml_cursor *cursor = NULL;
    uint64_t read = 0;
    int n = 0, r = ml_cursor_open(trace, 0, UINT64_MAX, &cursor, err);

    while (r == 0 && (n = ml_cursor_next(cursor, &batch, err)) > 0)
        for (int i = 0; i < n; i++) {
            struct ml_device_figures *f;

            read++;
            if (batch[i].kind == ML_SAMPLE &&
                (f = find(trace, batch[i].args[0], list, count)) != NULL)
                take(f, &batch[i], read <= events);
        }
    ml_cursor_free(cursor);
    return r < 0 ? r : n;
}
