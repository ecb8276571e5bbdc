/* sample_curves.c: see sample_curves.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sample_curves.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "landmarks.h"
#include "samples.h"
#include "timeline_build.h"

#define CURVES_MAX 64

struct drawing {
    const struct ml_trace *trace;
    const struct ml_timeline_opts *opts;
    struct ml_sample_curves *curves;
    struct ml_timeline_builder builders[CURVES_MAX]; /* one for each curve */
    struct ml_map rss;                               /* process -> its latest value */
    uint64_t rss_bytes;
};

static bool is_recorded(const struct ml_trace *trace, const char *device)
{
    for (uint32_t i = 0; i < ml_trace_spaces(trace); i++)
        if (strcmp(ml_trace_string(trace, ml_trace_space(trace, i)->device, NULL), device) == 0)
            return true;
    return false;
}

/* The device's curve, -ENOENT if there are too many. */
static int64_t find_curve(struct drawing *d, uint32_t device)
{
    struct ml_sample_curves *all = d->curves;
    struct ml_sample_curve c = {.device = device};
    const char *name = ml_trace_string(d->trace, device, NULL);

    for (size_t i = 0; i < all->list.len; i++)
        if (ml_trace_same_string(d->trace, all->list.items[i].device, device))
            return (int64_t)i;
    if (all->list.len == CURVES_MAX)
        return -ENOENT;
    c.name = ml_arena_dup(&all->arena, name, strlen(name));
    c.is_rss = strcmp(name, ML_HOST_DEVICE) == 0;
    c.is_recorded = is_recorded(d->trace, name);
    if (!c.name || ml_vec_push(&all->list, c) < 0)
        return -ENOMEM;
    return (int64_t)all->list.len - 1;
}

/* Builders point to their timeline, whose address changes when the list grows. */
static struct ml_timeline_builder *builder_of(struct drawing *d, size_t curve)
{
    d->builders[curve].timeline = &d->curves->list.items[curve].timeline;
    return &d->builders[curve];
}

static int set_value(struct drawing *d, size_t curve, uint64_t time_ns, uint64_t bytes)
{
    struct ml_sample_curve *c = &d->curves->list.items[curve];
    struct ml_timeline_builder *b = builder_of(d, curve);
    int r;

    if (!d->builders[curve].count) {
        ml_timeline_begin(b, d->trace, d->opts, &c->timeline);
        return ml_timeline_start_at(b, time_ns, bytes);
    }
    c->varies |= bytes != b->bytes;
    r = ml_timeline_advance(b, time_ns);
    ml_timeline_set(b, bytes);
    return r;
}

static int set_rss(struct drawing *d, size_t curve, uint64_t time_ns, uint32_t process,
                   uint64_t bytes)
{
    uint64_t before = 0;

    (void)ml_map_get(&d->rss, process, &before);
    if (ml_map_put(&d->rss, process, bytes) < 0)
        return -ENOMEM;
    d->rss_bytes += bytes - before;
    return set_value(d, curve, time_ns, d->rss_bytes);
}

static int add_sample(struct drawing *d, const struct ml_event *event)
{
    int64_t curve = find_curve(d, (uint32_t)event->args[0]);
    uint32_t process;

    if (curve < 0)
        return curve == -ENOENT ? 0 : (int)curve;
    if (!d->curves->list.items[curve].is_rss)
        return event->args[1] & ML_SAMPLE_USED
                   ? set_value(d, (size_t)curve, event->time_ns, event->args[2])
                   : 0;
    if (event->args[1] & ML_SAMPLE_SHARE || !ml_sample_about(event, &process))
        return 0;
    return set_rss(d, (size_t)curve, event->time_ns, process, event->args[5]);
}

/* Removes the memory of a process that has ended. */
static int end_process(struct drawing *d, const struct ml_event *event)
{
    uint32_t process = (uint32_t)event->args[0];
    uint64_t bytes;

    if (!ml_map_get(&d->rss, process, &bytes) || !bytes)
        return 0;
    for (size_t i = 0; i < d->curves->list.len; i++)
        if (d->curves->list.items[i].is_rss)
            return set_rss(d, i, event->time_ns, process, 0);
    return 0;
}

static int on_event(void *ctx, const struct ml_event *event)
{
    if (event->kind == ML_SAMPLE)
        return add_sample(ctx, event);
    return event->kind == ML_PROCESS_END ? end_process(ctx, event) : 0;
}

/* Drops curves without values, and extends the others to the end of the run. */
static int end_curves(struct drawing *d)
{
    uint64_t end_ns = ml_trace_info(d->trace)->end_ns;
    size_t kept = 0;
    int r = 0;

    for (size_t i = 0; r == 0 && i < d->curves->list.len; i++) {
        if (!d->builders[i].count)
            continue;
        r = ml_timeline_advance(builder_of(d, i), end_ns);
        if (r == 0)
            r = ml_timeline_end(&d->builders[i]);
        d->curves->list.items[kept++] = d->curves->list.items[i];
    }
    if (r == 0)
        d->curves->list.len = kept;
    return r;
}

static int by_name(const void *a, const void *b)
{
    const struct ml_sample_curve *x = a, *y = b;

    if (x->is_rss != y->is_rss)
        return x->is_rss ? 1 : -1;
    return strverscmp(x->name, y->name);
}

int ml_sample_curves(const struct ml_trace *trace, const struct ml_timeline_opts *opts,
                     struct ml_sample_curves *ret, struct ml_error *err)
{
    struct drawing *d = calloc(1, sizeof(*d));
    int r;

    *ret = (struct ml_sample_curves){.sample_only = ml_trace_is_sample_only(trace)};
    if (!d)
        return ml_error_set(err, -ENOMEM, "out of memory");
    d->trace = trace;
    d->opts = opts;
    d->curves = ret;
    r = ml_each_landmark(d->trace, ML_BLOCK_SAMPLES, 0, UINT64_MAX, on_event, d, err);
    if (r == 0) {
        r = end_curves(d);
        if (r < 0)
            ml_error_set(err, r, "out of memory");
    }
    ml_map_release(&d->rss);
    free(d);
    if (r == 0)
        ml_vec_sort(&ret->list, by_name);
    return r;
}

void ml_sample_curves_release(struct ml_sample_curves *curves)
{
    for (size_t i = 0; i < curves->list.len; i++)
        ml_timeline_release(&curves->list.items[i].timeline);
    ml_vec_release(&curves->list);
    ml_arena_release(&curves->arena);
    *curves = (struct ml_sample_curves){0};
}
