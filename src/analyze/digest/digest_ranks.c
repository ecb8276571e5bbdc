/* digest_ranks.c: see digest_ranks.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "digest_ranks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "digest_modules.h"
#include "each_event.h"
#include "samples.h"
#include "step_track.h"

/* A rank on one device, and its peak since the step began. */
struct reach {
    uint64_t live_bytes;
    uint64_t peak_bytes, peak_ns, peak_event;
    uint64_t crest_bytes, crest_event;
};

struct step {
    uint64_t number, begin_ns, end_ns;
    size_t first_reach, reach_count; /* by device, as far as the rank had used them */
};

/* A step on one device. */
struct step_reach {
    uint64_t peak_bytes, peak_event, end_bytes;
};

/* A moment at which the second pass adds up what is live. */
struct moment {
    uint64_t bytes, event;
    size_t row; /* of the matrix */
};

struct rank {
    ML_VEC(struct reach) devices; /* by device of the replay, as far as it used them */
    struct ml_step_track track;
    bool open; /* its last step has not ended */
    ML_VEC(struct step) steps;
    ML_VEC(struct step_reach) reaches;
    uint64_t ooms;
    uint32_t device;               /* the main one */
    uint64_t live_bytes;           /* there, in the second pass */
    uint64_t *sums;                /* modules × categories */
    ML_VEC(struct moment) moments; /* by event */
    size_t next_moment;
    ml_numbers matrix; /* rows × sums */
};

struct reading {
    const struct ml_trace *trace;
    const struct ml_rank_table *table;
    struct ml_replay replay;
    struct rank *ranks;
    size_t count;
    ML_VEC(uint32_t) of_space; /* by space of the replay: 1 + index of its rank; 0: none */
    uint64_t now_ns;
    int failed;
    struct ml_digest_modules modules;
    struct ml_digest *digest;
};

/* ---- Ranks of processes ----------------------------------------------------- */

static struct rank *rank_of_process(struct reading *r, uint64_t process)
{
    uint32_t index = process < r->table->of_process.len ? r->table->of_process.items[process] : 0;

    return index ? &r->ranks[index - 1] : NULL;
}

static struct rank *rank_of_thread(struct reading *r, uint32_t thread)
{
    return rank_of_process(r, ml_trace_thread(r->trace, thread)->process);
}

/* Spaces get their numbers in the replay at their first event. */
static int learn_spaces(struct reading *r)
{
    while (r->of_space.len < r->replay.spaces.len) {
        const struct ml_replay_space *space = &r->replay.spaces.items[r->of_space.len];
        struct rank *rank = rank_of_process(r, r->replay.processes.items[space->process].number);

        if (ml_vec_push(&r->of_space, rank ? (uint32_t)(rank - r->ranks) + 1 : 0) < 0)
            return -ENOMEM;
    }
    return 0;
}

static struct rank *rank_of_block(struct reading *r, const struct ml_block *block)
{
    if (block->space >= r->of_space.len && learn_spaces(r) < 0) {
        r->failed = -ENOMEM;
        return NULL;
    }
    return r->of_space.items[block->space] ? &r->ranks[r->of_space.items[block->space] - 1] : NULL;
}

/* ---- First pass: peaks ------------------------------------------------------ */

/* NULL: out of memory. */
static struct reach *reach_on(struct rank *rank, uint32_t device)
{
    while (rank->devices.len <= device)
        if (ml_vec_push(&rank->devices, (struct reach){0}) < 0)
            return NULL;
    return &rank->devices.items[device];
}

static void note_bytes(void *ctx, const struct ml_block *block, uint64_t change)
{
    struct reading *r = ctx;
    struct rank *rank = rank_of_block(r, block);
    struct reach *at;

    if (!rank)
        return;
    at = reach_on(rank, r->replay.spaces.items[block->space].device);
    if (!at) {
        r->failed = -ENOMEM;
        return;
    }
    at->live_bytes += change;
    if (at->live_bytes > at->crest_bytes) {
        at->crest_bytes = at->live_bytes;
        at->crest_event = r->replay.events;
    }
    if (at->live_bytes > at->peak_bytes) {
        at->peak_bytes = at->live_bytes;
        at->peak_ns = r->now_ns;
        at->peak_event = r->replay.events;
    }
}

static int end_step(struct reading *r, struct rank *rank)
{
    struct step *step;

    if (!rank->open)
        return 0;
    rank->open = false;
    step = &rank->steps.items[rank->steps.len - 1];
    step->end_ns = r->now_ns;
    step->first_reach = rank->reaches.len;
    step->reach_count = rank->devices.len;
    for (size_t i = 0; i < rank->devices.len; i++) {
        const struct reach *at = &rank->devices.items[i];

        if (ml_vec_push(&rank->reaches,
                        (struct step_reach){at->crest_bytes, at->crest_event, at->live_bytes}) < 0)
            return -ENOMEM;
    }
    return 0;
}

static void drop_step(struct rank *rank)
{
    rank->reaches.len = rank->steps.items[--rank->steps.len].first_reach;
}

static int begin_step(struct reading *r, struct rank *rank, uint64_t number)
{
    if (ml_vec_push(&rank->steps, (struct step){number, r->now_ns, r->now_ns, 0, 0}) < 0)
        return -ENOMEM;
    rank->open = true;
    for (size_t i = 0; i < rank->devices.len; i++) {
        rank->devices.items[i].crest_bytes = rank->devices.items[i].live_bytes;
        rank->devices.items[i].crest_event = r->replay.events;
    }
    return 0;
}

/* The program's first step replaces automatic ones; an evaluation before a step is dropped. */
static int turn(struct reading *r, struct rank *rank, enum ml_step_turn turn, uint64_t number)
{
    int failed = end_step(r, rank);

    if (failed == 0 && turn == ML_STEP_RESTARTS && rank->steps.len > 0)
        drop_step(rank);
    while (turn == ML_STEP_BEGINS && rank->track.takes_over && rank->steps.len > 0 &&
           rank->steps.items[rank->steps.len - 1].number >= number)
        drop_step(rank);
    return failed < 0 || turn == ML_STEP_ENDS ? failed : begin_step(r, rank, number);
}

static void note_mark(void *ctx, const struct ml_event *event)
{
    struct reading *r = ctx;
    struct rank *rank = event->kind == ML_PROCESS_END ? rank_of_process(r, event->args[0])
                                                      : rank_of_thread(r, event->thread);
    enum ml_step_turn next;

    if (!rank || r->failed < 0)
        return;
    rank->track.replay = &r->replay;
    next = ml_step_track_mark(&rank->track, event);
    if (next == ML_STEP_BEGINS || next == ML_STEP_RESTARTS || next == ML_STEP_ENDS)
        r->failed = turn(r, rank, next, event->args[1]);
}

static int feed(struct reading *r, const struct ml_event *event)
{
    int failed;

    r->now_ns = event->time_ns;
    failed = ml_replay_feed(&r->replay, event);
    return failed < 0 ? failed : r->failed;
}

static int find_peaks(void *ctx, const struct ml_event *event)
{
    struct reading *r = ctx;

    if (event->kind == ML_OOM) {
        struct rank *rank = rank_of_thread(r, event->thread);

        if (rank)
            rank->ooms++;
    }
    return feed(r, event);
}

static int close_steps(struct reading *r)
{
    int failed = 0;

    r->now_ns = ml_trace_info(r->trace)->end_ns;
    for (size_t i = 0; failed == 0 && i < r->count; i++) {
        struct rank *rank = &r->ranks[i];

        failed = end_step(r, rank);
        rank->track.replay = &r->replay;
        ml_step_track_close(&rank->track);
        if (failed == 0 && rank->track.is_behind && rank->steps.len > 0)
            drop_step(rank);
    }
    return failed;
}

/* ---- Between the passes ------------------------------------------------------ */

static bool is_gpu(const struct reading *r, size_t device)
{
    const char *name = ml_intern_get(&r->replay.device_names, (uint32_t)device, NULL);

    return strcmp(name, ML_HOST_DEVICE) != 0 && strcmp(name, ML_FILES_DEVICE) != 0 &&
           strcmp(name, ML_SHARED_DEVICE) != 0;
}

/* The GPU with the highest peak; without one, the device with the highest. */
static uint32_t choose_device(const struct reading *r, const struct rank *rank)
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < rank->devices.len; i++) {
        const struct reach *at = &rank->devices.items[i], *so_far = &rank->devices.items[best];
        bool here = is_gpu(r, i) && at->peak_bytes > 0;
        bool there = is_gpu(r, best) && so_far->peak_bytes > 0;

        if (here != there ? here : at->peak_bytes > so_far->peak_bytes)
            best = i;
    }
    return best;
}

static int add_device(struct reading *r, const struct rank *rank, size_t device,
                      struct ml_digest_rank *to)
{
    const struct reach *at = &rank->devices.items[device];
    size_t len;
    const char *name = ml_intern_get(&r->replay.device_names, (uint32_t)device, &len);
    const char *copy = ml_arena_dup(&r->digest->arena, name, len);

    if (!copy)
        return -ENOMEM;
    return ml_vec_push(&to->devices, (struct ml_digest_device){copy, at->peak_bytes, at->peak_ns});
}

static int add_devices(struct reading *r, const struct rank *rank, struct ml_digest_rank *to)
{
    int failed = 0;

    if (rank->devices.len > 0)
        failed = add_device(r, rank, rank->device, to);
    for (size_t i = 0; failed == 0 && i < rank->devices.len; i++)
        if (i != rank->device && rank->devices.items[i].peak_bytes > 0)
            failed = add_device(r, rank, i, to);
    return failed;
}

static const struct step_reach *reach_of(const struct rank *rank, size_t number)
{
    static const struct step_reach none;
    const struct step *step = &rank->steps.items[number];

    return rank->device < step->reach_count ? &rank->reaches.items[step->first_reach + rank->device]
                                            : &none;
}

/* One row of so many steps, and the moment of the highest peak in it. */
static int add_row(struct rank *rank, size_t first, struct ml_digest_rank *to)
{
    size_t after = ml_min_u64(first + to->steps_per_row, rank->steps.len), highest = first;
    struct ml_digest_row row = {.begin_ns = rank->steps.items[first].begin_ns,
                                .end_ns = rank->steps.items[after - 1].end_ns,
                                .end_bytes = reach_of(rank, after - 1)->end_bytes};
    const struct step_reach *peak;

    for (size_t i = first + 1; i < after; i++)
        if (reach_of(rank, i)->peak_bytes > reach_of(rank, highest)->peak_bytes)
            highest = i;
    peak = reach_of(rank, highest);
    row.number = rank->steps.items[highest].number;
    row.peak_bytes = peak->peak_bytes;
    if (ml_vec_push(&to->rows, row) < 0)
        return -ENOMEM;
    return ml_vec_push(&rank->moments,
                       (struct moment){peak->peak_bytes, peak->peak_event, to->rows.len});
}

static int by_event(const void *a, const void *b)
{
    const struct moment *x = a, *y = b;

    if (x->event != y->event)
        return x->event < y->event ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static int plan_rows(struct rank *rank, struct ml_digest_rank *to)
{
    int failed = 0;

    to->steps = rank->steps.len;
    to->steps_per_row = 1;
    to->ooms = rank->ooms;
    while (rank->steps.len > to->steps_per_row * ML_DIGEST_ROWS_MAX)
        to->steps_per_row *= 2;
    if (rank->devices.len > 0) {
        const struct reach *at = &rank->devices.items[rank->device];

        failed = ml_vec_push(&rank->moments, (struct moment){at->peak_bytes, at->peak_event, 0});
    }
    for (size_t i = 0; failed == 0 && i < rank->steps.len; i += to->steps_per_row)
        failed = add_row(rank, i, to);
    ml_vec_sort(&rank->moments, by_event);
    return failed;
}

static int plan(struct reading *r)
{
    size_t sums;
    int failed = ml_digest_modules_init(&r->modules, r->trace, r->digest);

    sums = r->digest->modules.len * ML_CATEGORIES;
    for (size_t i = 0; failed == 0 && i < r->count; i++) {
        struct rank *rank = &r->ranks[i];

        rank->device = choose_device(r, rank);
        rank->sums = calloc(sums, sizeof(*rank->sums));
        failed = rank->sums ? add_devices(r, rank, &r->digest->ranks.items[i]) : -ENOMEM;
        if (failed == 0)
            failed = plan_rows(rank, &r->digest->ranks.items[i]);
        for (size_t n = 0; failed == 0 && n < (1 + r->digest->ranks.items[i].rows.len) * sums; n++)
            failed = ml_vec_push(&rank->matrix, 0);
        for (size_t n = 0; failed == 0 && n < ML_DIGEST_COLUMNS; n++)
            failed = ml_vec_push(&r->digest->ranks.items[i].curve, 0);
    }
    return failed;
}

/* ---- Second pass: modules and categories ---------------------------------------- */

static void take_moment(struct reading *r, struct rank *rank)
{
    size_t sums = r->digest->modules.len * ML_CATEGORIES;
    size_t row = rank->moments.items[rank->next_moment++].row;

    memcpy(rank->matrix.items + row * sums, rank->sums, sums * sizeof(*rank->sums));
}

/* A step may have had its highest total when it began: the state before the next change. */
static void take_earlier(struct reading *r, struct rank *rank, uint64_t event)
{
    while (rank->next_moment < rank->moments.len &&
           rank->moments.items[rank->next_moment].event < event)
        take_moment(r, rank);
}

static void take_now(struct reading *r, struct rank *rank)
{
    while (rank->next_moment < rank->moments.len &&
           rank->moments.items[rank->next_moment].event == r->replay.events &&
           rank->moments.items[rank->next_moment].bytes == rank->live_bytes)
        take_moment(r, rank);
}

static void note_curve(struct reading *r, struct rank *rank)
{
    uint64_t *curve = r->digest->ranks.items[rank - r->ranks].curve.items;
    double at = (double)r->now_ns / ((double)ml_trace_info(r->trace)->end_ns + 1);
    size_t column = (size_t)(at * ML_DIGEST_COLUMNS);

    column = column < ML_DIGEST_COLUMNS ? column : ML_DIGEST_COLUMNS - 1;
    curve[column] = ml_max_u64(curve[column], rank->live_bytes);
}

static void note_cells(void *ctx, const struct ml_block *block, uint64_t change)
{
    struct reading *r = ctx;
    struct rank *rank = rank_of_block(r, block);
    int64_t module;

    if (!rank || r->replay.spaces.items[block->space].device != rank->device)
        return;
    module = ml_digest_modules_of(&r->modules, block);
    if (module < 0) {
        r->failed = -ENOMEM;
        return;
    }
    take_earlier(r, rank, r->replay.events);
    rank->sums[(size_t)module * ML_CATEGORIES + block->category] += change;
    rank->live_bytes += change;
    take_now(r, rank);
    note_curve(r, rank);
}

static int add_up(void *ctx, const struct ml_event *event)
{
    return feed(ctx, event);
}

/* Columns that are empty in all rows are left out. */
static int keep_column(struct rank *rank, size_t sums, size_t column, struct ml_digest_rank *to)
{
    bool used = false;

    for (size_t row = 0; row < 1 + to->rows.len; row++)
        used |= rank->matrix.items[row * sums + column] > 0;
    if (!used)
        return 0;
    return ml_vec_push(&to->cells, (struct ml_digest_cell){(uint32_t)(column / ML_CATEGORIES),
                                                           column % ML_CATEGORIES});
}

static int keep_matrix(struct reading *r, struct rank *rank, struct ml_digest_rank *to)
{
    size_t sums = r->digest->modules.len * ML_CATEGORIES;
    int failed = 0;

    for (size_t i = 0; failed == 0 && i < sums; i++)
        failed = keep_column(rank, sums, i, to);
    for (size_t row = 0; failed == 0 && row < 1 + to->rows.len; row++)
        for (size_t i = 0; failed == 0 && i < to->cells.len; i++) {
            const struct ml_digest_cell *cell = &to->cells.items[i];

            failed = ml_vec_push(
                &to->values,
                rank->matrix.items[row * sums + cell->module * ML_CATEGORIES + cell->category]);
        }
    return failed;
}

/* ---- Both ----------------------------------------------------------------------- */

static int begin_pass(struct reading *r, const struct ml_classes *classes)
{
    int failed = ml_replay_init(&r->replay, r->trace);

    ml_replay_classify(&r->replay, classes);
    r->replay.ctx = r;
    ml_vec_clear(&r->of_space);
    return failed;
}

static int first_pass(struct reading *r, const struct ml_classes *classes, struct ml_error *err)
{
    int failed = begin_pass(r, classes);

    r->replay.on_bytes = note_bytes;
    r->replay.on_mark = note_mark;
    if (failed == 0)
        failed = ml_each_event(r->trace, find_peaks, r, err);
    return failed < 0 ? failed : close_steps(r);
}

static int second_pass(struct reading *r, const struct ml_classes *classes, struct ml_error *err)
{
    int failed = begin_pass(r, classes);

    r->replay.on_bytes = note_cells;
    if (failed == 0)
        failed = ml_each_event(r->trace, add_up, r, err);
    for (size_t i = 0; failed == 0 && i < r->count; i++) {
        take_earlier(r, &r->ranks[i], UINT64_MAX);
        failed = keep_matrix(r, &r->ranks[i], &r->digest->ranks.items[i]);
    }
    ml_replay_release(&r->replay);
    return failed;
}

static void release(struct reading *r)
{
    for (size_t i = 0; i < r->count; i++) {
        ml_vec_release(&r->ranks[i].devices);
        free(r->ranks[i].sums);
        ml_vec_release(&r->ranks[i].steps);
        ml_vec_release(&r->ranks[i].reaches);
        ml_vec_release(&r->ranks[i].moments);
        ml_vec_release(&r->ranks[i].matrix);
    }
    free(r->ranks);
    ml_vec_release(&r->of_space);
    ml_digest_modules_release(&r->modules);
}

int ml_digest_ranks(const struct ml_trace *trace, const struct ml_rank_table *table,
                    const struct ml_classes *classes, struct ml_replay *at_end,
                    struct ml_digest *digest, struct ml_error *err)
{
    struct reading r = {
        .trace = trace, .table = table, .digest = digest, .count = table->ranks.len};
    int failed;

    r.ranks = calloc(r.count + 1, sizeof(*r.ranks));
    if (!r.ranks)
        return -ENOMEM;
    failed = first_pass(&r, classes, err);
    if (failed == 0)
        failed = plan(&r);
    ml_replay_release_blocks(&r.replay);
    *at_end = r.replay;
    at_end->on_bytes = NULL;
    at_end->on_mark = NULL;
    r.replay = (struct ml_replay){0};
    if (failed == 0)
        failed = second_pass(&r, classes, err);
    release(&r);
    return failed;
}
