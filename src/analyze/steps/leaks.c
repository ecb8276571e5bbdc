/* leaks.c: see leaks.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "leaks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "classify.h"
#include "defs.h"
#include "leak_book.h"
#include "memledger/memledger.h"
#include "replaced_blocks.h"
#include "step_track.h"

#define SLICES 20 /* for a run without steps */

/* ---- A pass over the trace --------------------------------------------- */

struct pass {
    struct ml_leak_book book; /* first: the ctx of the replay's callbacks */
    struct ml_replay replay;
    struct ml_step_track track; /* of the process whose steps count */
    struct ml_map others;       /* other processes that mark steps */
};

static int on_step(struct pass *p, const struct ml_event *event)
{
    uint32_t process = ml_trace_thread(p->replay.trace, event->thread)->process;

    if (p->book.process < 0)
        p->book.process = process;
    if (process != p->book.process)
        return ml_map_put(&p->others, process, 0);
    if (ml_step_track_mark(&p->track, event) != ML_STEP_BEGINS)
        return 0; /* the growth of an evaluation counts for the step that follows */
    if (p->track.takes_over)
        ml_leak_book_take_over(&p->book, event->args[1]);
    return ml_leak_book_end(&p->book, event->args[1], event->time_ns);
}

static void on_mark(void *ctx, const struct ml_event *event)
{
    struct pass *p = ctx;

    if (event->kind == ML_MARK && ml_mark_is_pause(event->args[0]))
        p->book.is_paused = true;
    if (event->kind != ML_MARK || event->args[0] != MEMLEDGER_MARK_STEP)
        (void)ml_step_track_mark(&p->track, event);
    else if (on_step(p, event) < 0)
        p->book.failed = -ENOMEM;
}

static void on_end_of_process(void *ctx, const struct ml_event *event)
{
    if (event->kind == ML_PROCESS_END)
        ml_leak_book_end_process(ctx, (uint32_t)event->args[0]);
}

static void release_pass(struct pass *p)
{
    ml_leak_book_release(&p->book);
    ml_replay_release(&p->replay);
    ml_map_release(&p->others);
}

static int begin_pass(struct pass *p, const struct ml_trace *trace,
                      const struct ml_classes *classes, const struct ml_leaks *ret,
                      struct ml_error *err)
{
    int r = ml_replay_init(&p->replay, trace);

    ml_replay_classify(&p->replay, classes);
    if (r == 0)
        r = ml_leak_book_init(&p->book, &p->replay, ret->by, ret->by_count);
    p->book.device = ret->at.device_index;
    p->book.process = ret->process;
    p->track.replay = &p->replay;
    return r < 0 ? ml_error_set(err, r, "out of memory") : 0;
}

static int end_pass(struct pass *p, int r, struct ml_error *err)
{
    if (r == 0 && p->book.failed < 0)
        r = ml_error_set(err, p->book.failed,
                         "not enough memory for the blocks that outlive a step");
    return r;
}

static int read_steps(struct pass *p, struct ml_error *err)
{
    p->replay.on_mark = on_mark;
    return end_pass(p, ml_replay_trace(&p->replay, UINT64_MAX, err), err);
}

/* ---- Slices ------------------------------------------------------------ */

/* From the first allocation to the last: time before and after is not part of the work. */
struct slices {
    enum ml_leak_unit unit;
    uint64_t from, to; /* nanoseconds or events */
    uint32_t count, next;
};

/* The end of slice `next`, from 1. The last one has none: see leaks.h. */
static uint64_t next_end(const struct slices *s)
{
    if (s->next >= s->count)
        return UINT64_MAX;
    return s->from + (uint64_t)((double)(s->to - s->from) * s->next / s->count);
}

/* The number of events in the current slice. */
static size_t events_before(const struct slices *s, const struct pass *p,
                            const struct ml_event *events, size_t count)
{
    uint64_t end = next_end(s);
    size_t n = 0;

    if (s->unit == ML_LEAK_BY_EVENTS)
        return (size_t)ml_min_u64(count, end - ml_min_u64(end, p->replay.events));
    if (count > 0 && events[count - 1].time_ns < end)
        return count;
    while (n < count && events[n].time_ns < end)
        n++;
    return n;
}

static int feed_slices(struct pass *p, struct slices *s, const struct ml_event *events,
                       size_t count)
{
    for (;;) {
        size_t n = events_before(s, p, events, count);
        int r = ml_replay_feed_all(&p->replay, events, n);

        if (r < 0 || n == count)
            return r;
        r = ml_leak_book_end(&p->book, s->next++, events[n].time_ns);
        if (r < 0)
            return r;
        events += n;
        count -= n;
    }
}

static int read_slices(struct pass *p, struct slices *s, struct ml_error *err)
{
    const struct ml_event *events;
    struct ml_cursor *cursor = NULL;
    int n = 0, r = ml_cursor_open(p->replay.trace, 0, UINT64_MAX, &cursor, err);

    p->replay.on_mark = on_end_of_process;
    while (r == 0 && (n = ml_cursor_next(cursor, &events, err)) > 0)
        if (feed_slices(p, s, events, (size_t)n) < 0)
            r = ml_error_set(err, -ENOMEM, "not enough memory for the live blocks of the trace");
    ml_cursor_free(cursor);
    return end_pass(p, r < 0 ? r : n, err);
}

static struct slices slices_of(const struct pass *p, const struct ml_leaks_opts *opts)
{
    struct ml_health health = ml_health_of(&p->replay);
    bool no_times = ml_health_no_times(&health) || p->book.first_birth == p->book.last_birth;
    uint64_t end_ns = p->book.last_birth;
    /* Before a window only those blocks are known that outlived it, which looks like growth. */
    uint64_t from_ns = ml_max_u64(p->book.first_birth, health.window.begin_ns);

    if (opts->until_ns > p->book.first_birth)
        end_ns = ml_min_u64(end_ns, opts->until_ns);

    return (struct slices){
        .unit = no_times ? ML_LEAK_BY_EVENTS : ML_LEAK_BY_TIME,
        .from = no_times ? 0 : ml_min_u64(from_ns, end_ns),
        .to = no_times ? p->replay.events : end_ns,
        .count = opts->slices ? opts->slices : SLICES,
        .next = 1,
    };
}

static int list_processes(const struct pass *p, struct ml_leaks *ret)
{
    const struct ml_trace *trace = p->replay.trace;
    uint64_t process, unused;
    size_t cursor = 0;
    int r = 0;

    if (p->book.process >= 0)
        ret->step_pid = ml_trace_process(trace, (uint32_t)p->book.process)->pid;
    while (r == 0 && ml_map_next(&p->others, &cursor, &process, &unused))
        r = ml_vec_push(&ret->other_pids, ml_trace_process(trace, (uint32_t)process)->pid);
    return r;
}

/* Evaluates the book after the trace has been read. */
static int evaluate(struct pass *p, const struct ml_leaks_opts *opts, struct ml_leaks *ret,
                    struct ml_error *err)
{
    int r = 0;

    ml_leak_range(&p->book, opts, ret);
    if (ret->slices > 0)
        r = ml_leak_left(&p->book, ret);
    if (r == 0)
        r = ml_leak_replaced(&p->book, ret->warm_up);
    if (r == 0)
        r = ml_leak_signs(&p->book, opts, ret);
    ret->at.instant.health = ml_health_of(&p->replay);
    ret->no_allocations = ml_health_no_allocations(&p->replay);
    if (r == 0)
        r = list_processes(p, ret);
    return r < 0 ? ml_error_set(err, r, "out of memory") : 0;
}

/* ---- The analysis ------------------------------------------------------ */

static bool has_python(const struct ml_trace *trace)
{
    for (uint32_t i = 0; i < ml_trace_frames(trace); i++)
        if (ml_trace_frame(trace, i)->kind == ML_FRAME_PYTHON)
            return true;
    return false;
}

static void choose_keys(const struct ml_trace *trace, const struct ml_leaks_opts *opts,
                        struct ml_leaks *ret)
{
    memcpy(ret->by, opts->by, sizeof(ret->by));
    ret->by_count = opts->by_count;
    if (ret->by_count > 0)
        return;
    if (has_python(trace))
        ret->by[ret->by_count++] = ML_KEY_LINE;
    else if (ml_trace_stacks(trace) > 1)
        ret->by[ret->by_count++] = ML_KEY_STACK;
    if (ml_trace_scopes(trace) > 1)
        ret->by[ret->by_count++] = ML_KEY_MODULE;
    ret->by[ret->by_count++] = ML_KEY_CATEGORY;
    if (ret->by_count == 1)
        ret->by[ret->by_count++] = ML_KEY_LABEL;
}

/* A program that is started by exec has the number of the one before it: the last counts. */
static int find_process(const struct ml_trace *trace, uint32_t pid, int64_t *ret,
                        struct ml_error *err)
{
    *ret = -1;
    for (uint32_t i = ml_trace_processes(trace); pid && i > 0; i--)
        if (ml_trace_process(trace, i - 1)->pid == pid) {
            *ret = i - 1;
            return 0;
        }
    return pid ? ml_error_set(err, -ENOENT, "there is no process %u in this trace", pid) : 0;
}

/* Checks that need no events. */
static int check(const struct ml_trace *trace, const struct ml_leaks_opts *opts,
                 struct ml_leaks *ret, struct ml_error *err)
{
    struct ml_replay replay;
    struct ml_health health;
    int r = ml_replay_init(&replay, trace);

    health = ml_health_of(&replay);
    if (r < 0)
        ml_error_set(err, r, "out of memory");
    else
        r = ml_instant_device(&replay, opts->device, &ret->at.device_index, err);
    if (r == 0)
        r = find_process(trace, opts->pid, &ret->process, err);
    if (r == 0 && ml_health_no_frees(&health))
        r = ml_error_set(err, -EINVAL,
                         "the imported file contains no frees, so leaks cannot be found");
    if (r == 0 && opts->device) {
        const char *name =
            ml_intern_get(&replay.device_names, (uint32_t)ret->at.device_index, NULL);

        ret->at.device = ml_arena_dup(&ret->at.arena, name, strlen(name));
    }
    ml_replay_release(&replay);
    return r;
}

static int by_slices(const struct ml_trace *trace, const struct ml_classes *classes,
                     const struct ml_leaks_opts *opts, struct slices slices, struct ml_leaks *ret,
                     struct ml_error *err)
{
    struct pass p = {0};
    int r = begin_pass(&p, trace, classes, ret, err);

    ret->unit = slices.unit;
    ret->slices = slices.count;
    if (r == 0)
        r = read_slices(&p, &slices, err);
    if (r == 0)
        r = evaluate(&p, opts, ret, err);
    release_pass(&p);
    return r;
}

/* The time after the last step, if it is no step itself. */
static bool has_time_after(struct pass *p, const struct ml_leaks_opts *opts, struct slices *ret)
{
    ml_step_track_close(&p->track);
    if (!p->track.is_behind || p->book.ends.len == 0)
        return false;
    *ret = slices_of(p, opts);
    ret->from = p->book.ends.items[p->book.ends.len - 1].time_ns;
    return ret->unit == ML_LEAK_BY_TIME && ret->from < ret->to;
}

/* Keeps the result in ret->after if it has a sign of a leak. */
static int after_steps(const struct ml_trace *trace, const struct ml_classes *classes,
                       const struct ml_leaks_opts *opts, int64_t process, struct slices slices,
                       struct ml_leaks *ret, struct ml_error *err)
{
    struct ml_leaks *after = calloc(1, sizeof(*after));
    int r;

    if (!after)
        return ml_error_set(err, -ENOMEM, "out of memory");
    ml_snapshot_begin(trace, &after->at);
    after->at.device_index = ret->at.device_index;
    after->process = process;
    memcpy(after->by, ret->by, sizeof(after->by));
    after->by_count = ret->by_count;
    r = by_slices(trace, classes, opts, slices, after, err);
    if (r == 0 && after->found[ML_LEAK_STEADY] + after->found[ML_LEAK_LIKELY] > 0) {
        ret->after = after;
        return 0;
    }
    ml_leaks_release(after);
    free(after);
    return r;
}

/* @return 1: there are no steps, or the caller wants slices; *ret_slices is then set */
static int by_steps(const struct ml_trace *trace, const struct ml_classes *classes,
                    const struct ml_leaks_opts *opts, struct ml_leaks *ret,
                    struct slices *ret_slices, struct ml_error *err)
{
    struct pass p = {0};
    struct slices after;
    int r = begin_pass(&p, trace, classes, ret, err);

    if (r == 0)
        r = read_steps(&p, err);
    if (r == 0 && (opts->slices || p.book.ends.len == 0)) {
        *ret_slices = slices_of(&p, opts);
        r = 1;
    } else if (r == 0) {
        r = evaluate(&p, opts, ret, err);
        if (r == 0 && has_time_after(&p, opts, &after))
            r = after_steps(trace, classes, opts, p.book.process, after, ret, err);
    }
    release_pass(&p);
    return r;
}

int ml_leaks(const struct ml_trace *trace, const struct ml_leaks_opts *opts, struct ml_leaks *ret,
             struct ml_error *err)
{
    struct ml_classes classes = {0};
    struct slices slices = {0};
    int r;

    *ret = (struct ml_leaks){0};
    ml_snapshot_begin(trace, &ret->at);
    r = check(trace, opts, ret, err);
    if (r < 0)
        return r;
    choose_keys(trace, opts, ret);
    r = ml_classify(trace, &classes, err);
    if (r == 0)
        r = by_steps(trace, &classes, opts, ret, &slices, err);
    if (r == 1)
        r = by_slices(trace, &classes, opts, slices, ret, err);
    ml_classes_release(&classes);
    return r;
}

bool ml_leaks_know_left(const struct ml_leaks *leaks)
{
    const struct ml_health *h = &leaks->at.instant.health;

    return leaks->slices > 0 && !h->cut_short && !h->went_on;
}

void ml_leaks_release(struct ml_leaks *leaks)
{
    for (size_t i = 0; i < leaks->list.len; i++)
        ml_stack_view_release(&leaks->list.items[i].stack);
    ml_vec_release(&leaks->list);
    ml_vec_release(&leaks->left);
    ml_vec_release(&leaks->other_pids);
    if (leaks->after)
        ml_leaks_release(leaks->after);
    free(leaks->after);
    ml_snapshot_release(&leaks->at);
    *leaks = (struct ml_leaks){0};
}
