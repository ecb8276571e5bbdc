/* events.c: see events.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "events.h"

#include <errno.h>
#include <string.h>

#include "event_names.h"
#include "samples.h"
#include "scope_path.h"

struct reader {
    struct ml_replay replay;
    const struct ml_events_opts *opts;
    struct ml_event_view view;
    bool has_freed;
    struct ml_block freed; /* by the event being read */
    uint64_t shown;
    struct ml_stack_view stack; /* the latest one shown */

    /* The latest scope and space, since events mostly repeat them. */
    struct ml_buf path, place;
    uint32_t scope, space;
    bool has_scope, has_space;
    bool scope_fits, space_fits;
};

static void on_close(void *ctx, const struct ml_block *block, const struct ml_event *event)
{
    struct reader *r = ctx;

    (void)event;
    r->freed = *block;
    r->has_freed = true;
}

static int look_up_scope(struct reader *r, uint32_t scope)
{
    if (r->has_scope && r->scope == scope)
        return 0;
    ml_buf_clear(&r->path);
    if (ml_buf_puts(&r->path, "") < 0 || ml_scope_path(r->replay.trace, scope, &r->path) < 0)
        return -ENOMEM;
    r->scope = scope;
    r->has_scope = true;
    r->scope_fits = !r->opts->scope || strstr((const char *)r->path.data, r->opts->scope);
    return 0;
}

static int look_up_space(struct reader *r, uint32_t number)
{
    const struct ml_trace *trace = r->replay.trace;
    const struct ml_space *space = ml_trace_space(trace, number);

    if (r->has_space && r->space == number)
        return 0;
    r->view.device = ml_trace_string(trace, space->device, NULL);
    r->view.level = ml_level_name(space->level);
    r->view.space = ml_trace_string(trace, space->name, NULL);
    ml_buf_clear(&r->place);
    if (ml_buf_printf(&r->place, "%s/%s/%s", r->view.device, r->view.level, r->view.space) < 0)
        return -ENOMEM;
    r->space = number;
    r->has_space = true;
    r->space_fits = !r->opts->space || strstr((const char *)r->place.data, r->opts->space);
    return 0;
}

/* Finds the size: the event's own, or that of the block that it frees. */
static void find_bytes(struct reader *r)
{
    const struct ml_event *event = r->view.event;
    bool own = ml_shapes[event->kind].bits & ML_HAS_SIZE;
    bool freeing = event->kind == ML_FREE || event->kind == ML_MOVE;

    r->view.has_bytes = own || (freeing && r->has_freed);
    r->view.bytes = own ? event->size : r->freed.size;
}

/* Whether memory of the device was taken, freed, named, refused or sampled. */
static bool is_on_device(const struct reader *r)
{
    const struct ml_event_view *v = &r->view;
    const char *sampled;

    if (v->has_space)
        return ml_device_is(v->device, r->opts->device);
    if (v->event->kind != ML_SAMPLE)
        return false;
    sampled = ml_trace_string(r->replay.trace, (uint32_t)v->event->args[0], NULL);
    return ml_device_is(sampled, r->opts->device);
}

static bool is_of_process(const struct reader *r)
{
    const struct ml_trace *trace = r->replay.trace;
    uint32_t process = ml_trace_thread(trace, r->view.event->thread)->process;

    return r->view.has_thread && ml_trace_process(trace, process)->pid == r->opts->pid;
}

static bool fits(const struct reader *r)
{
    const struct ml_events_opts *o = r->opts;
    const struct ml_event_view *v = &r->view;

    if (v->event->time_ns < o->from_ns || v->event->time_ns > o->to_ns)
        return false;
    if (o->kinds && !(o->kinds & (UINT32_C(1) << v->event->kind)))
        return false;
    if (o->by_size && (!v->has_bytes || v->bytes < o->min_bytes || v->bytes > o->max_bytes))
        return false;
    if (o->space && (!v->has_space || !r->space_fits))
        return false;
    if ((o->device && !is_on_device(r)) || (o->pid && !is_of_process(r)))
        return false;
    return r->scope_fits;
}

static int look_at(struct reader *r, const struct ml_event *event)
{
    const struct ml_trace *trace = r->replay.trace;
    const struct ml_thread *thread = ml_trace_thread(trace, event->thread);
    struct ml_event_view *v = &r->view;
    const struct ml_process *process;

    r->has_freed = false;
    if (ml_replay_feed(&r->replay, event) < 0)
        return -ENOMEM;
    v->event = event;
    v->has_address = ml_shapes[event->kind].bits & ML_HAS_ADDR;
    v->has_space = v->has_address || event->kind == ML_OOM;
    v->has_thread = event->kind != ML_SAMPLE || ml_sample_is_inside(event);
    if (look_up_scope(r, v->has_thread ? event->scope : 0) < 0 ||
        look_up_space(r, event->space) < 0)
        return -ENOMEM;
    find_bytes(r);
    if (!fits(r))
        return 0;
    v->kind = ml_kind_name(event->kind);
    process = ml_trace_process(trace, thread->process);
    v->pid = v->has_thread ? process->pid : 0;
    v->role = v->has_thread && process->role ? ml_trace_string(trace, process->role, NULL) : NULL;
    v->tid = v->has_thread ? thread->tid : 0;
    v->scope = (const char *)r->path.data;
    v->stack = event->stack ? &r->stack : NULL;
    if (v->stack && ml_stack_view(trace, event->stack, &r->stack) < 0)
        return -ENOMEM;
    ml_event_fields(trace, r->has_freed ? &r->freed : NULL, v);
    return 1;
}

static int read_all(struct reader *r, struct ml_cursor *cursor,
                    int (*visit)(void *ctx, const struct ml_event_view *view), void *ctx,
                    struct ml_error *err)
{
    const struct ml_event *events;
    int n;

    while ((n = ml_cursor_next(cursor, &events, err)) > 0)
        for (int i = 0; i < n; i++) {
            int chosen = look_at(r, &events[i]), result = 0;

            if (chosen < 0)
                return ml_error_set(err, chosen, "out of memory");
            if (chosen)
                result = visit(ctx, &r->view);
            r->shown += (uint64_t)chosen;
            if (result != 0)
                return result;
            if (r->opts->limit && r->shown >= r->opts->limit)
                return 0;
        }
    return n;
}

int ml_events(const struct ml_trace *trace, const struct ml_events_opts *opts,
              int (*visit)(void *ctx, const struct ml_event_view *view), void *ctx,
              struct ml_health *ret_health, struct ml_error *err)
{
    struct reader r = {.opts = opts};
    struct ml_cursor *cursor = NULL;
    int result = 0;

    if (opts->start)
        r.replay = *opts->start;
    else
        result = ml_replay_init(&r.replay, trace);
    r.replay.on_close = on_close;
    r.replay.ctx = &r;
    if (result < 0)
        ml_error_set(err, result, "out of memory");
    else
        result = ml_cursor_open(trace, 0, opts->to_ns, &cursor, err);
    if (result == 0)
        ml_cursor_skip(cursor, r.replay.events);
    if (result == 0)
        result = read_all(&r, cursor, visit, ctx, err);
    if (ret_health) {
        *ret_health = ml_health_of(&r.replay);
        /* A filter on part of the trace does not show whether the whole is empty. */
        ret_health->empty &= !opts->limit && !opts->kinds && opts->to_ns == UINT64_MAX;
    }
    ml_cursor_free(cursor);
    ml_buf_release(&r.path);
    ml_buf_release(&r.place);
    ml_stack_view_release(&r.stack);
    ml_replay_release(&r.replay);
    return result;
}

int ml_events_parse_kinds(const char *text, uint32_t *ret, const char **ret_unknown)
{
    uint32_t bits = 0;

    while (*text) {
        size_t len = strcspn(text, ",");
        uint32_t found = 0;

        for (uint32_t kind = 1; kind < ML_KIND_COUNT; kind++)
            if (strlen(ml_kind_name(kind)) == len && strncmp(ml_kind_name(kind), text, len) == 0)
                found |= UINT32_C(1) << kind;
        if (!found) {
            *ret_unknown = text;
            return -EINVAL;
        }
        bits |= found;
        text += len + (text[len] == ',');
    }
    if (bits & (1u << ML_ALLOC))
        bits |= 1u << ML_ALLOC_EX;
    if (bits & (1u << ML_FREE))
        bits |= 1u << ML_FREE_RANGE;
    *ret = bits;
    return 0;
}
