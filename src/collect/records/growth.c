/* growth.c: see growth.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "growth.h"

#include <string.h>

#define PER_TIME 32 /* points */

void ml_growth_release(struct ml_growth *g)
{
    ml_vec_release(&g->devices);
    ml_vec_release(&g->values);
}

static struct ml_growth_value *value_of(struct ml_growth *g, uint64_t device, uint64_t process)
{
    for (size_t i = 0; i < g->values.len; i++) {
        if (g->values.items[i].device == device && g->values.items[i].process == process)
            return &g->values.items[i];
    }
    if (ml_vec_push(&g->values, (struct ml_growth_value){device, process, 0}))
        return NULL;
    return &g->values.items[g->values.len - 1];
}

static struct ml_growth_device *device_of(struct ml_growth *g, uint64_t device, uint64_t now_ns)
{
    for (size_t i = 0; i < g->devices.len; i++) {
        if (g->devices.items[i].device == device)
            return &g->devices.items[i];
    }
    if (ml_vec_push(&g->devices, (struct ml_growth_device){.device = device, .begin_ns = now_ns}))
        return NULL;
    return &g->devices.items[g->devices.len - 1];
}

static uint64_t sum_on(const struct ml_growth *g, uint64_t device)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < g->values.len; i++)
        sum += g->values.items[i].device == device ? g->values.items[i].bytes : 0;
    return sum;
}

/* Forgets points that are older than needed: the first one is the last that is old enough. */
static void drop_points(struct ml_growth_device *d, uint64_t within_ns, uint64_t now_ns)
{
    size_t old = 0;

    while (old + 1 < d->count && now_ns - d->points[old + 1].ns >= within_ns)
        old++;
    d->count -= old;
    memmove(d->points, d->points + old, d->count * sizeof(*d->points));
}

static void add_point(struct ml_growth *g, struct ml_growth_device *d, uint64_t bytes,
                      uint64_t now_ns)
{
    const struct ml_growth_limit *limit = &g->limit;

    if (now_ns - d->begin_ns < limit->within_ns)
        return;
    if (d->count && now_ns - d->points[d->count - 1].ns < limit->within_ns / PER_TIME)
        return;
    drop_points(d, limit->within_ns, now_ns);
    if (d->count && now_ns - d->points[0].ns >= limit->within_ns &&
        (double)bytes > (double)d->points[0].bytes * (1 + limit->share)) {
        g->grown = true;
        d->count = 0;
    }
    if (d->count < ML_GROWTH_POINTS)
        d->points[d->count++] = (struct ml_growth_point){now_ns, bytes};
}

void ml_growth_sample(struct ml_growth *g, const struct ml_event *sample)
{
    uint64_t process = sample->args[1] >> ML_SAMPLE_PROCESS_SHIFT;
    struct ml_growth_value *value;
    struct ml_growth_device *device;

    if (!(sample->args[1] & ML_SAMPLE_BY_PROCESS) || !process || sample->args[1] & ML_SAMPLE_SHARE)
        return;
    value = value_of(g, sample->args[0], process - 1);
    device = device_of(g, sample->args[0], sample->time_ns);
    if (!value || !device)
        return;
    value->bytes = sample->args[5];
    add_point(g, device, sum_on(g, sample->args[0]), sample->time_ns);
}

void ml_growth_forget(struct ml_growth *g, uint32_t process)
{
    size_t kept = 0;

    for (size_t i = 0; i < g->values.len; i++) {
        if (g->values.items[i].process != process)
            g->values.items[kept++] = g->values.items[i];
    }
    g->values.len = kept;
}
