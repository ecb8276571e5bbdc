/* summary.c: see summary.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "summary.h"

#include <errno.h>
#include <string.h>

#include "classify.h"
#include "summary_tables.h"

static const char *copy_setting(const struct ml_trace *trace, const char *key,
                                struct ml_arena *arena)
{
    const char *value = ml_trace_setting(trace, key);

    return value ? ml_arena_dup(arena, value, strlen(value)) : NULL;
}

/* The part that needs the whole trace. */
static void fill_totals(const struct ml_replay *at_end, struct ml_summary *ret)
{
    const struct ml_trace *trace = at_end->trace;
    const struct ml_trace_info *info = ml_trace_info(trace);

    ret->command = copy_setting(trace, "command", &ret->arena);
    ret->host = copy_setting(trace, "host", &ret->arena);
    ret->start_wall_ns = info->start_wall_ns;
    ret->duration_ns = info->end_ns;
    ret->events = at_end->events;
    ret->file_bytes = info->file_bytes;
    ret->ooms = at_end->ooms;
    ret->health = ml_health_of(at_end);
    for (size_t i = 0; i < at_end->spaces.len; i++)
        if (at_end->spaces.items[i].counted)
            ml_figures_add(&ret->counted, &at_end->spaces.items[i]);
    ret->counted.peak_bytes = at_end->bytes.peak_bytes;
    ret->counted.peak_time_ns = at_end->bytes.peak_time_ns;
}

/* The part that does not depend on the blocks of the peak. */
static int fill_places(const struct ml_replay *at_end, struct ml_summary *ret)
{
    int r = ml_summary_devices(at_end, ret);

    fill_totals(at_end, ret);
    return r < 0 ? r : ml_summary_processes(at_end, ret);
}

static int fill_peak(const struct ml_replay *at_peak, const struct ml_replay *at_end,
                     const struct ml_summary_end *end, const struct ml_classes *classes, size_t top,
                     struct ml_summary *ret)
{
    int r = ml_summary_categories(at_peak, at_end, end, ret);

    if (r == 0)
        r = ml_summary_scopes(at_peak, end, top, ret);
    if (r == 0)
        r = ml_summary_labels(at_peak, end, top, ret);
    return r < 0 ? r : ml_summary_named(at_peak, classes, ret);
}

static int init_replay(struct ml_replay *replay, const struct ml_trace *trace,
                       const struct ml_level_caps *caps, const struct ml_classes *classes,
                       struct ml_error *err)
{
    int r = ml_replay_init_capped(replay, trace, caps);

    ml_replay_classify(replay, classes);
    return r < 0 ? ml_error_set(err, r, "out of memory") : 0;
}

/* Filled while the whole trace is read. */
struct books {
    struct ml_sample_book samples;
    struct ml_step_book steps;
    struct ml_cache_book caches;
};

static void on_sample(void *ctx, const struct ml_event *event)
{
    struct books *books = ctx;
    const struct ml_replay *replay = books->steps.replay;

    if (ml_replay_has_device(replay,
                             ml_trace_string(replay->trace, (uint32_t)event->args[0], NULL)))
        ml_sample_book_add(&books->samples, event);
}

static void on_mark(void *ctx, const struct ml_event *event)
{
    ml_step_book_mark(&((struct books *)ctx)->steps, event);
}

static bool is_counted(const struct books *books, const struct ml_block *block)
{
    return books->steps.replay->spaces.items[block->space].counted;
}

static void on_open(void *ctx, const struct ml_block *block)
{
    struct books *books = ctx;

    if (is_counted(books, block))
        ml_cache_book_add(&books->caches, block);
}

static void on_close(void *ctx, const struct ml_block *block, const struct ml_event *event)
{
    struct books *books = ctx;

    (void)event;
    if (is_counted(books, block))
        ml_cache_book_remove(&books->caches, block);
}

/* Callbacks for blocks take time: only where they are needed. */
static int open_books(struct books *books, const struct ml_classes *classes,
                      struct ml_replay *replay)
{
    int r = ml_cache_book_open(&books->caches, replay->trace, classes);

    replay->on_sample = on_sample;
    replay->on_mark = on_mark;
    replay->on_open = books->caches.on ? on_open : NULL;
    replay->on_close = books->caches.on ? on_close : NULL;
    replay->ctx = books;
    return r;
}

static int close_books(struct books *books, struct ml_summary *ret)
{
    int steps = ml_step_book_close(&books->steps);
    int samples = ml_sample_book_close(&books->samples, &ret->arena, &ret->samples);
    int caches = ml_cache_book_close(&books->caches, &ret->arena, &ret->caches);

    ml_cache_book_release(&books->caches);
    return samples < 0 ? samples : steps < 0 ? steps : caches;
}

/* Reads the whole trace: totals, and the live memory at its end, without the blocks themselves. */
static int read_all(struct ml_replay *at_end, struct ml_summary_end *end, struct ml_summary *ret,
                    struct ml_error *err)
{
    int r = ml_replay_trace(at_end, UINT64_MAX, err);

    if (r < 0)
        return r;
    r = ml_summary_end(at_end, end);
    ml_replay_release_blocks(at_end);
    if (r == 0)
        r = fill_places(at_end, ret);
    return r < 0 ? ml_error_set(err, r, "out of memory") : 0;
}

/* Reads the trace up to its peak. */
static int read_peak(const struct ml_replay *at_end, const struct ml_summary_end *end,
                     const struct ml_classes *classes, const struct ml_summary_opts *opts,
                     struct ml_summary *ret, struct ml_error *err)
{
    struct ml_replay at_peak = {0};
    int r = init_replay(&at_peak, at_end->trace, opts->caps, classes, err);

    if (r == 0)
        r = ml_replay_instant(&at_peak, at_end->peak_event, at_end->last_label_event, err);
    if (r == 0) {
        r = fill_peak(&at_peak, at_end, end, classes, opts->top, ret);
        if (r < 0)
            ml_error_set(err, r, "out of memory");
    }
    ml_replay_release(&at_peak);
    return r;
}

/* The blocks that were live when a window began have their own times, and most of the other blocks
 * of those times are missing: a peak among them is the memory with which the window began. */
static void raise_peak_times(struct ml_summary *s)
{
    uint64_t begin_ns = s->health.window.begin_ns;

    s->counted.peak_time_ns = ml_max_u64(s->counted.peak_time_ns, begin_ns);
    for (size_t i = 0; i < s->devices.len; i++) {
        struct ml_summary_device *d = &s->devices.items[i];

        d->counted.peak_time_ns = ml_max_u64(d->counted.peak_time_ns, begin_ns);
        for (size_t level = 0; level < ML_LEVELS; level++)
            d->levels[level].peak_time_ns = ml_max_u64(d->levels[level].peak_time_ns, begin_ns);
    }
    for (size_t i = 0; i < s->categories.len; i++)
        s->categories.items[i].peak_time_ns =
            ml_max_u64(s->categories.items[i].peak_time_ns, begin_ns);
    for (size_t i = 0; i < s->processes.len; i++)
        s->processes.items[i].counted.peak_time_ns =
            ml_max_u64(s->processes.items[i].counted.peak_time_ns, begin_ns);
}

int ml_summarize(const struct ml_trace *trace, const struct ml_summary_opts *opts,
                 struct ml_summary *ret, struct ml_error *err)
{
    struct ml_replay at_end = {0};
    struct ml_summary_end end = {0};
    struct books books = {
        .samples = {.trace = trace},
        .steps = {.replay = &at_end, .steps = &ret->steps, .track = {.only_pid = opts->steps_pid}}};
    struct ml_classes classes;
    int closed, r = ml_classify(trace, &classes, err);

    *ret = (struct ml_summary){0};
    if (r == 0)
        r = init_replay(&at_end, trace, opts->caps, &classes, err);
    if (r == 0 && open_books(&books, &classes, &at_end) < 0)
        r = ml_error_set(err, -ENOMEM, "out of memory");
    if (r == 0)
        r = read_all(&at_end, &end, ret, err);
    if (r == 0)
        r = read_peak(&at_end, &end, &classes, opts, ret, err);
    raise_peak_times(ret);
    closed = close_books(&books, ret);
    if (r == 0 && closed < 0)
        r = ml_error_set(err, closed, "out of memory");
    ml_summary_end_release(&end);
    ml_replay_release(&at_end);
    ml_classes_release(&classes);
    return r;
}

void ml_summary_release(struct ml_summary *summary)
{
    ml_arena_release(&summary->arena);
    ml_vec_release(&summary->devices);
    ml_vec_release(&summary->categories);
    ml_vec_release(&summary->scopes.list);
    ml_vec_release(&summary->labels.list);
    ml_vec_release(&summary->processes);
    ml_samples_release(&summary->samples);
    ml_cache_growth_release(&summary->caches);
    ml_steps_release(&summary->steps);
    *summary = (struct ml_summary){0};
}
