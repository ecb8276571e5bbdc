/* reserved_curves.c: see reserved_curves.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "reserved_curves.h"

#include <errno.h>
#include <string.h>

#include "landmarks.h"
#include "samples.h"
#include "stack_owner.h"
#include "timeline_build.h"
#include "unknowns.h"

#define OWNER_ROOM 128

/* A curve that is being drawn; those of devices without segments are dropped. */
struct drawn {
    struct ml_timeline timeline;
    struct ml_timeline_builder builder;
    uint64_t bytes; /* at present */
    bool has_any;   /* there were some */
};

struct drawing {
    const struct ml_trace *trace;
    const struct ml_timeline_opts *opts;
    struct ml_replay replay;      /* of segments alone */
    ML_VEC(struct drawn) devices; /* those of the replay so far */
};

static uint64_t reserved_bytes(const struct drawing *d, size_t device)
{
    const struct ml_gauge *levels = d->replay.devices.items[device].levels;

    return levels[MEMLEDGER_POOL].live_bytes + levels[MEMLEDGER_DRIVER].live_bytes;
}

static bool has_pool(const struct ml_trace *trace, uint32_t device)
{
    for (uint32_t i = 0; i < ml_trace_spaces(trace); i++) {
        const struct ml_space *space = ml_trace_space(trace, i);

        if (space->level == MEMLEDGER_POOL && ml_trace_same_string(trace, space->device, device))
            return true;
    }
    return false;
}

/* A snapshot of PyTorch contains nothing but the segments of its allocator. */
static bool is_snapshot(const struct ml_trace *trace)
{
    const char *format = ml_trace_setting(trace, ML_SETTING_IMPORT_FORMAT);

    return format && strcmp(format, "torch-snapshot") == 0;
}

/* A pool reports its segments itself, or asks the driver for them, as PyTorch's does; other
 * libraries ask the driver, too. The free of a segment that was not taken changes nothing. */
static bool is_reserved(const struct ml_trace *trace, const struct ml_event *event)
{
    const struct ml_space *space = ml_trace_space(trace, event->space);
    char owner[OWNER_ROOM];

    if (space->level == MEMLEDGER_POOL)
        return true;
    if (event->kind != ML_ALLOC && event->kind != ML_ALLOC_EX)
        return true;
    if (has_pool(trace, space->device))
        return false;
    return is_snapshot(trace) ||
           strcmp(ml_stack_owner(trace, event->stack, owner, OWNER_ROOM), "PyTorch") == 0;
}

/* A device appears with its first event. */
static int add_devices(struct drawing *d)
{
    while (d->devices.len < d->replay.devices.len) {
        struct drawn drawn = {0};

        ml_timeline_begin(&drawn.builder, d->trace, d->opts, &drawn.timeline);
        if (ml_vec_push(&d->devices, drawn) < 0)
            return -ENOMEM;
    }
    return 0;
}

/* Builders point to their timeline, whose address changes when the list grows. */
static struct ml_timeline_builder *builder_of(struct drawn *drawn)
{
    drawn->builder.timeline = &drawn->timeline;
    return &drawn->builder;
}

/* The end of a process changes several devices. */
static int take_values(struct drawing *d, uint64_t time_ns)
{
    int r = add_devices(d);

    for (size_t i = 0; r == 0 && i < d->devices.len; i++) {
        struct drawn *drawn = &d->devices.items[i];
        uint64_t bytes = reserved_bytes(d, i);

        if (bytes == drawn->bytes)
            continue;
        drawn->bytes = bytes;
        drawn->has_any = true;
        r = ml_timeline_advance(builder_of(drawn), time_ns);
        ml_timeline_set(&drawn->builder, bytes);
    }
    return r;
}

static int on_event(void *ctx, const struct ml_event *event)
{
    struct drawing *d = ctx;
    int r;

    if (event->kind != ML_PROCESS_END &&
        (!ml_is_segment_event(d->trace, event) || !is_reserved(d->trace, event)))
        return 0;
    r = ml_replay_feed(&d->replay, event);
    return r < 0 ? r : take_values(d, event->time_ns);
}

/* Moves the curves that have a value into the result. */
static int end_curves(struct drawing *d, struct ml_reserved_curves *ret)
{
    uint64_t end_ns = ml_trace_info(d->trace)->end_ns;
    int r = 0;

    for (size_t i = 0; r == 0 && i < d->devices.len; i++) {
        struct drawn *drawn = &d->devices.items[i];
        struct ml_reserved_curve curve = {0};
        size_t len;
        const char *name = ml_intern_get(&d->replay.device_names, (uint32_t)i, &len);

        if (!drawn->has_any)
            continue;
        r = ml_timeline_advance(builder_of(drawn), end_ns);
        if (r == 0)
            r = ml_timeline_end(&drawn->builder);
        curve.device = ml_arena_dup(&ret->arena, name, len);
        curve.timeline = drawn->timeline;
        if (r == 0)
            r = curve.device ? ml_vec_push(&ret->list, curve) : -ENOMEM;
        if (r == 0)
            drawn->timeline = (struct ml_timeline){0};
    }
    return r;
}

int ml_reserved_curves(const struct ml_trace *trace, const struct ml_timeline_opts *opts,
                       struct ml_reserved_curves *ret, struct ml_error *err)
{
    struct drawing d = {.trace = trace, .opts = opts};
    int r;

    *ret = (struct ml_reserved_curves){0};
    if (!ml_trace_has_segments(trace))
        return 0;
    r = ml_replay_init(&d.replay, trace);
    if (r == 0)
        r = ml_each_landmark(trace, ML_BLOCK_SEGMENTS, 0, UINT64_MAX, on_event, &d, err);
    if (r == 0)
        r = end_curves(&d, ret);
    if (r < 0 && err->text[0] == '\0')
        ml_error_set(err, r, "out of memory");
    for (size_t i = 0; i < d.devices.len; i++)
        ml_timeline_release(&d.devices.items[i].timeline);
    ml_vec_release(&d.devices);
    ml_replay_release(&d.replay);
    return r;
}

void ml_reserved_curves_release(struct ml_reserved_curves *curves)
{
    for (size_t i = 0; i < curves->list.len; i++)
        ml_timeline_release(&curves->list.items[i].timeline);
    ml_vec_release(&curves->list);
    ml_arena_release(&curves->arena);
    *curves = (struct ml_reserved_curves){0};
}
