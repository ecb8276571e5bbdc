/* live_view.c: see live_view.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "live_view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "asking_frame.h"
#include "event_names.h"
#include "memledger/memledger.h"

#define MINUTE 60
#define RATE_SECONDS 10
#define ALL_GROUPS 1000000

static const char *copy(struct ml_live_view *view, const char *text)
{
    return text ? ml_arena_dup(&view->arena, text, strlen(text)) : NULL;
}

static int64_t growth_of(const struct ml_second_history *h, uint64_t now)
{
    uint64_t seconds;

    return (int64_t)(now - ml_second_history_ago(h, MINUTE, &seconds));
}

/* ---- Devices ------------------------------------------------------------------ */

static void add_samples(const struct ml_following *f, struct ml_live_device *d)
{
    for (size_t i = 0; i < f->samples.len; i++) {
        const struct ml_following_sample *s = &f->samples.items[i];

        if (strcmp(ml_trace_string(f->trace, s->string, NULL), d->name))
            continue;
        d->used = s->used;
        d->total = s->total;
        d->ours.known = s->by_process;
        for (size_t k = 0; k < f->uses.len; k++)
            if (f->uses.items[k].string == s->string)
                d->ours.bytes += f->uses.items[k].bytes;
    }
    d->has_unexplained = d->ours.known && strcmp(d->name, ML_HOST_DEVICE) != 0;
    if (d->has_unexplained)
        d->unexplained_bytes = (int64_t)(d->ours.bytes - d->levels[MEMLEDGER_DRIVER]);
}

static struct ml_earlier_peak highest_of(const struct ml_following *f, enum ml_window_peak_of of,
                                         uint32_t number, const struct ml_gauge *bytes)
{
    return ml_earlier_highest(&f->earlier, of, number,
                              (struct ml_earlier_peak){bytes->peak_bytes, bytes->peak_time_ns});
}

static struct ml_earlier_peak device_peak(const struct ml_following *f, size_t device)
{
    const struct ml_replay *r = &f->replay;
    const struct ml_gauge *bytes = &r->devices.items[device].bytes;

    for (size_t i = 0; i < r->spaces.len; i++)
        if (r->spaces.items[i].device == device)
            return highest_of(f, ML_PEAK_OF_DEVICE,
                              ml_trace_space(f->trace, r->spaces.items[i].number)->device, bytes);
    return (struct ml_earlier_peak){bytes->peak_bytes, bytes->peak_time_ns};
}

static int add_device(const struct ml_following *f, size_t i, struct ml_live_view *view)
{
    const struct ml_replay_device *device = &f->replay.devices.items[i];
    const struct ml_earlier_peak peak = device_peak(f, i);
    size_t len;
    const char *name = ml_intern_get(&f->replay.device_names, (uint32_t)i, &len);
    struct ml_live_device d = {
        .name = ml_arena_dup(&view->arena, name, len),
        .bytes = device->bytes.live_bytes,
        .peak_bytes = peak.bytes,
        .peak_time_ns = peak.time_ns,
        .history = i < f->devices.len ? &f->devices.items[i] : NULL,
    };

    if (!d.name)
        return -ENOMEM;
    for (int level = 0; level < ML_LEVELS; level++)
        d.levels[level] = device->levels[level].live_bytes;
    if (d.history)
        d.growth_bytes = growth_of(d.history, d.bytes);
    add_samples(f, &d);
    return ml_vec_push(&view->devices, d);
}

/* ---- Processes ------------------------------------------------------------------ */

static int by_bytes(const void *a, const void *b)
{
    const struct ml_live_process *x = a, *y = b;

    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    if (x->peak_bytes != y->peak_bytes)
        return x->peak_bytes < y->peak_bytes ? 1 : -1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* @met  of the replay; NULL: no event has named the process yet */
static int add_process(const struct ml_following *f, uint32_t number,
                       const struct ml_replay_process *met, struct ml_live_view *view)
{
    const struct ml_process *defined = ml_trace_process(f->trace, number);
    size_t i = met ? (size_t)(met - f->replay.processes.items) : SIZE_MAX;
    struct ml_live_process p = {
        .number = number,
        .pid = defined->pid,
        .command = copy(view, ml_trace_string(f->trace, defined->command, NULL)),
        .role = defined->role ? copy(view, ml_trace_string(f->trace, defined->role, NULL)) : NULL,
    };

    if (!p.command || (defined->role && !p.role))
        return -ENOMEM;
    p.rank = p.role ? ml_role_rank(p.role) : 0;
    if (met) {
        const struct ml_earlier_peak peak = highest_of(f, ML_PEAK_OF_PROCESS, number, &met->bytes);

        p.ended = ml_following_has_ended(f, number);
        p.bytes = met->bytes.live_bytes;
        p.peak_bytes = peak.bytes;
        p.peak_time_ns = peak.time_ns;
    }
    if (i < f->processes.len)
        p.growth_bytes = growth_of(&f->processes.items[i], p.bytes);
    view->ended_processes += p.ended;
    return ml_vec_push(&view->processes, p);
}

/* A process that has just begun, or is paused from its start on, is defined without an event. */
static int add_defined(const struct ml_following *f, struct ml_live_view *view)
{
    uint32_t count = ml_trace_processes(f->trace);
    bool *met = calloc(count ? count : 1, sizeof(*met));
    int r = met ? 0 : -ENOMEM;

    for (size_t i = 0; r == 0 && i < f->replay.processes.len; i++)
        if (f->replay.processes.items[i].number < count)
            met[f->replay.processes.items[i].number] = true;
    for (uint32_t i = 0; r == 0 && i < count; i++)
        if (!met[i] && ml_trace_process(f->trace, i)->pid > 0)
            r = add_process(f, i, NULL, view);
    free(met);
    return r;
}

static int add_processes(const struct ml_following *f, struct ml_live_view *view)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < f->replay.processes.len; i++)
        r = add_process(f, f->replay.processes.items[i].number, &f->replay.processes.items[i],
                        view);
    if (r == 0 && view->being_recorded)
        r = add_defined(f, view);
    ml_vec_sort(&view->processes, by_bytes);
    for (size_t i = view->processes.len; view->being_recorded && i-- > 0;)
        if (!view->processes.items[i].ended)
            view->pid = view->processes.items[i].pid;
    return r;
}

static int add_space(const struct ml_following *f, const struct ml_replay_space *met,
                     struct ml_live_view *view)
{
    const struct ml_space *defined = ml_trace_space(f->trace, met->number);
    struct ml_live_space space = {
        .pid = ml_trace_process(f->trace, f->replay.processes.items[met->process].number)->pid,
        .device = copy(view, ml_trace_string(f->trace, defined->device, NULL)),
        .name = copy(view, ml_trace_string(f->trace, defined->name, NULL)),
        .bytes = met->ended ? 0 : met->bytes.live_bytes,
        .peak_bytes = highest_of(f, ML_PEAK_OF_SPACE, met->number, &met->bytes).bytes,
    };

    return space.device && space.name ? ml_vec_push(&view->spaces, space) : -ENOMEM;
}

/* ---- Rows -------------------------------------------------------------------------- */

/* The categories that a classification finds are put into the live table while it is added up. */
struct borrowed {
    struct ml_following_class *before;
    size_t count;
};

static void put_class(struct ml_block *block, const struct ml_following_class *given)
{
    block->category = given->category & 0x3f;
    block->label = ml_block_number(given->label) & 0xffffff;
}

static int borrow_classes(struct ml_following *f, struct borrowed *ret)
{
    struct ml_replay *r = &f->replay;
    size_t count = r->blocks.len;
    struct ml_following_class *now;
    int code;

    *ret = (struct borrowed){0};
    if (!f->classes || count == 0)
        return 0;
    now = calloc(count, sizeof(*now));
    ret->before = calloc(count, sizeof(*ret->before));
    code = now && ret->before ? ml_following_classes_now(f->classes, now, count) : -ENOMEM;
    for (size_t i = 0; code == 0 && i < count; i++) {
        struct ml_block *b = &r->blocks.items[i];

        ret->before[i] = (struct ml_following_class){b->label, b->category};
        if (b->live)
            put_class(b, &now[i]);
    }
    ret->count = code == 0 ? count : 0;
    free(now);
    return code;
}

static void give_back(struct ml_following *f, struct borrowed *borrowed)
{
    for (size_t i = 0; i < borrowed->count; i++)
        put_class(&f->replay.blocks.items[i], &borrowed->before[i]);
    free(borrowed->before);
}

/* FNV-1a */
static uint64_t hash_text(uint64_t seed, const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ seed;

    for (; *text; text++)
        hash = (hash ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
    return hash;
}

static uint64_t hash_question(const struct ml_live_question *q)
{
    uint64_t hash = (uint64_t)q->by + 1;

    for (size_t i = 0; i < q->filter_count; i++)
        hash = hash_text(hash + (uint64_t)q->filters[i].key, q->filters[i].name);
    return hash;
}

static bool is_asked_for(const struct ml_live_question *q, const struct ml_breakdown_group *group)
{
    for (size_t i = 0; i < q->filter_count; i++)
        if (strcmp(group->names[i], q->filters[i].name))
            return false;
    return true;
}

/* Filters are keys before the key that is asked for. A key that is both needs no second place. */
static size_t choose_keys(const struct ml_live_question *q, struct ml_breakdown_opts *opts)
{
    size_t place;

    for (size_t i = 0; i < q->filter_count; i++)
        opts->by[opts->by_count++] = q->filters[i].key;
    for (place = 0; place < opts->by_count; place++)
        if (opts->by[place] == q->by)
            return place;
    opts->by[opts->by_count++] = q->by;
    return place;
}

static int add_row(struct ml_live_view *view, const struct ml_breakdown_group *group, size_t place)
{
    struct ml_live_row row = {
        .name = copy(view, group->names[place]),
        .bytes = group->bytes,
        .blocks = group->blocks,
    };

    return row.name ? ml_vec_push(&view->rows, row) : -ENOMEM;
}

static int choose_rows(const struct ml_live_question *q, const struct ml_breakdown *breakdown,
                       size_t place, struct ml_live_view *view)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < breakdown->groups.len; i++)
        if (is_asked_for(q, &breakdown->groups.items[i]))
            r = add_row(view, &breakdown->groups.items[i], place);
    return r;
}

static int add_history(struct ml_following *f, const struct ml_live_question *q,
                       struct ml_live_view *view)
{
    struct ml_row_bytes *rows = calloc(view->rows.len ? view->rows.len : 1, sizeof(*rows));
    int r;

    if (!rows)
        return -ENOMEM;
    for (size_t i = 0; i < view->rows.len; i++)
        rows[i] = (struct ml_row_bytes){hash_text(0, view->rows.items[i].name),
                                        view->rows.items[i].bytes};
    r = ml_row_history_put(&f->rows, hash_question(q), view->time_ns, rows, view->rows.len);
    for (size_t i = 0; r == 0 && i < view->rows.len; i++) {
        struct ml_live_row *row = &view->rows.items[i];

        row->peak_bytes = ml_max_u64(row->bytes, ml_row_history_peak(&f->rows, rows[i].row));
        row->has_growth =
            ml_row_history_growth(&f->rows, rows[i].row, row->bytes, &row->growth_bytes);
    }
    free(rows);
    return r;
}

static void fold_rows(const struct ml_live_question *q, struct ml_live_view *view)
{
    uint64_t all = 0;

    for (size_t i = 0; i < view->rows.len; i++)
        all += view->rows.items[i].bytes;
    for (size_t i = 0; i < view->rows.len; i++) {
        struct ml_live_row *row = &view->rows.items[i];

        row->percent = all ? 100.0 * (double)row->bytes / (double)all : 0;
        if (i < q->top)
            continue;
        view->rest.bytes += row->bytes;
        view->rest.blocks += row->blocks;
        view->rest.percent += row->percent;
        view->rest_count++;
    }
    view->rows.len -= view->rest_count;
}

/* Whether a key's names are made of functions. */
static bool is_of_functions(enum ml_key key)
{
    return key == ML_KEY_STACK || key == ML_KEY_FUNCTION;
}

/* Frames of native functions have no names yet, if there are any. */
static bool awaits_names(const struct ml_following *f, const struct ml_live_question *q)
{
    uint32_t count = ml_trace_frames(f->trace);
    bool asks = is_of_functions(q->by);

    for (size_t i = 0; i < q->filter_count; i++)
        asks |= is_of_functions(q->filters[i].key);
    for (uint32_t i = 0; asks && i < count; i++)
        if (ml_frame_awaits_name(f->trace, ml_trace_frame(f->trace, i)))
            return true;
    return false;
}

static int add_rows(struct ml_following *f, const struct ml_live_question *q,
                    struct ml_live_view *view)
{
    struct ml_breakdown_opts opts = {.top = ALL_GROUPS};
    struct ml_breakdown breakdown = {0};
    size_t place = choose_keys(q, &opts);
    struct borrowed borrowed;
    int r = borrow_classes(f, &borrowed);

    if (r == 0) {
        ml_snapshot_begin(f->trace, &breakdown.at);
        r = ml_breakdown_of(&f->replay, &opts, &breakdown);
    }
    give_back(f, &borrowed);
    if (r == 0)
        r = choose_rows(q, &breakdown, place, view);
    view->no_lines = breakdown.no_lines;
    view->stackless = breakdown.stackless;
    ml_breakdown_release(&breakdown);
    if (r == 0)
        r = add_history(f, q, view);
    if (r == 0)
        fold_rows(q, view);
    return r;
}

/* ---- The whole ----------------------------------------------------------------------- */

static double rate_of(const struct ml_second_history *h)
{
    uint64_t seconds, before = ml_second_history_ago(h, RATE_SECONDS, &seconds), none;

    return seconds ? (double)(ml_second_history_ago(h, 0, &none) - before) / (double)seconds : 0;
}

/* Over the last ten seconds, or those that the file has completely. Its last event is at most a
 * second old while there are any. */
static double allocation_rate(const struct ml_following *f, uint64_t allocations)
{
    uint64_t now_ns = ml_following_now(f), last_ns = ml_trace_info(f->trace)->end_ns;

    if (now_ns > last_ns + ML_NS_PER_SECOND)
        last_ns = now_ns;
    if (!f->earlier.is_window ||
        last_ns >= f->earlier.begin_ns + RATE_SECONDS * (uint64_t)ML_NS_PER_SECOND)
        return rate_of(&f->allocations);
    return last_ns > f->earlier.begin_ns
               ? (double)(allocations - f->earlier_allocations) * (double)ML_NS_PER_SECOND /
                     (double)(last_ns - f->earlier.begin_ns)
               : 0;
}

/* The last step of a run that has ended may not be one. */
static void fill_steps(const struct ml_following *f, struct ml_live_view *view)
{
    struct ml_step_track steps = f->steps;

    if (!view->being_recorded)
        ml_step_track_close(&steps);
    view->steps =
        ml_earlier_add(&f->earlier,
                       (struct ml_following_totals){.steps = steps.count - steps.is_behind})
            .steps;
    view->step_number = steps.is_behind ? steps.highest_before : steps.number;
    view->in_step = view->being_recorded && steps.count > 0 && f->step_begin_ns > 0;
    view->step_begin_ns = f->step_begin_ns;
    view->step_length_ns = f->step_length_ns;
    view->step_peak_bytes = f->last_step_peak_bytes;
}

static void fill_totals(const struct ml_following *f, struct ml_live_view *view)
{
    const struct ml_trace_info *info = ml_trace_info(f->trace);
    const struct ml_following_totals totals = ml_following_totals(f);
    const struct ml_replay *r = &f->replay;
    const struct ml_earlier_peak peak = highest_of(f, ML_PEAK_OF_ALL, 0, &r->bytes);

    view->start_wall_ns = info->start_wall_ns;
    view->time_ns = ml_following_now(f);
    view->last_ns = info->end_ns;
    view->being_recorded = info->being_written;
    view->finished = info->has_index;
    view->at_end = f->end.is_shown;
    view->at_end_ns = f->end.time_ns;
    view->all_freed = f->end.all_freed;
    view->paused = view->being_recorded && f->is_paused;
    view->paused_at_ns = f->paused_at_ns;
    view->events = totals.events;
    view->lost = totals.lost;
    view->refusals = totals.refusals;
    view->allocations = totals.allocations;
    view->frees = totals.frees;
    view->allocations_per_second = allocation_rate(f, totals.allocations);
    view->bytes = r->bytes.live_bytes;
    view->peak_bytes = peak.bytes;
    view->peak_time_ns = peak.time_ns;
    for (size_t i = 0; i < r->spaces.len; i++)
        if (r->spaces.items[i].counted && !r->spaces.items[i].ended)
            view->blocks += r->spaces.items[i].live_blocks;
    view->growth_bytes = growth_of(&f->total, view->bytes);
    view->history = &f->total;
    fill_steps(f, view);
}

int ml_live_view(struct ml_following *f, const struct ml_live_question *question,
                 struct ml_live_view *ret, struct ml_error *err)
{
    int r = 0;

    *ret = (struct ml_live_view){0};
    fill_totals(f, ret);
    ret->command = copy(ret, ml_trace_setting(f->trace, "command"));
    ret->host = copy(ret, ml_trace_setting(f->trace, "host"));
    for (size_t i = 0; r == 0 && i < f->replay.devices.len; i++)
        r = add_device(f, i, ret);
    if (r == 0)
        r = add_processes(f, ret);
    for (size_t i = 0; r == 0 && i < f->replay.spaces.len; i++)
        r = add_space(f, &f->replay.spaces.items[i], ret);
    if (r == 0 && !question->no_rows) {
        ret->awaits_names = awaits_names(f, question);
        r = add_rows(f, question, ret);
    }
    return r < 0 ? ml_error_set(err, r, "out of memory") : 0;
}

void ml_live_view_release(struct ml_live_view *view)
{
    ml_vec_release(&view->devices);
    ml_vec_release(&view->processes);
    ml_vec_release(&view->spaces);
    ml_vec_release(&view->rows);
    ml_arena_release(&view->arena);
    *view = (struct ml_live_view){0};
}
