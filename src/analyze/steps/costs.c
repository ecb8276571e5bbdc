/* costs.c: see costs.h.
 *
 * An allocation is booked when its block is freed, or at the end: by then the block has its label.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "costs.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "births.h"
#include "block_groups.h"
#include "classify.h"
#include "sampled.h"

const char *const ml_cost_words[] = {"peak", "leaked", "allocated", "temporary", "calls", NULL};

struct pass {
    struct ml_replay replay;
    struct ml_block_groups groups;
    const struct ml_costs_opts *opts;
    struct ml_cost_report *ret;
    struct ml_births births;
    ML_VEC(struct ml_cost_group) list; /* by group */
    int failed;
};

/* ---- Booking ------------------------------------------------------------ */

static bool is_selected(const struct pass *p, const struct ml_block *block)
{
    const struct ml_replay_space *space = &p->replay.spaces.items[block->space];

    return space->counted && ml_snapshot_has(&p->ret->at, &p->replay, block);
}

/* @return NULL: out of memory */
static struct ml_cost_group *group_of(struct pass *p, const struct ml_block *block)
{
    int64_t group = ml_block_group_of(&p->groups, block);

    while (group >= 0 && p->list.len <= (size_t)group)
        if (ml_vec_push(&p->list, (struct ml_cost_group){0}) < 0)
            group = -ENOMEM;
    if (group < 0)
        p->failed = -ENOMEM;
    return group < 0 ? NULL : &p->list.items[group];
}

static uint64_t mean_of(const struct pass *p, const struct ml_block *block)
{
    return p->replay.spaces.items[block->space].sampled_bytes;
}

/* Adds bytes of a block to a figure. */
static void book_bytes(const struct pass *p, struct ml_cost_group *group, enum ml_cost cost,
                       const struct ml_block *block, uint64_t bytes)
{
    uint64_t mean = mean_of(p, block);

    group->figures[cost] += bytes;
    if (mean)
        group->variances[cost] += ml_sample_variance(bytes, mean);
}

static void book_allocation(const struct pass *p, struct ml_cost_group *group,
                            const struct ml_block *block, const struct ml_birth *birth)
{
    uint64_t mean = mean_of(p, block);

    book_bytes(p, group, ML_COST_ALLOCATED, block, birth->bytes);
    group->figures[ML_COST_CALLS] += ml_sample_count(&group->call_parts, birth->bytes, mean);
    if (!mean)
        return;
    group->variances[ML_COST_CALLS] += ml_sample_count_variance(birth->bytes, mean);
    group->is_sampled = true;
    p->ret->sampled_bytes = ml_max_u64(p->ret->sampled_bytes, mean);
    p->ret->largest_weight = fmax(p->ret->largest_weight, ml_sample_weight(birth->bytes, mean));
}

static void on_open(void *ctx, const struct ml_block *block)
{
    struct pass *p = ctx;

    if (ml_births_open(&p->births, block, is_selected(p, block)) < 0)
        p->failed = -ENOMEM;
}

static void on_split(void *ctx, const struct ml_block *from, const struct ml_block *rest)
{
    (void)from;
    ml_births_split(&((struct pass *)ctx)->births, rest);
}

static void book_end(struct pass *p, const struct ml_block *block, const struct ml_birth *birth,
                     uint64_t time_ns)
{
    /* How many others a thread allocated meanwhile is not known of samples. */
    bool is_known = p->opts->limit.by_time || !mean_of(p, block);
    int is_short =
        is_known ? ml_births_is_short(&p->births, block, birth, time_ns, &p->opts->limit) : 0;
    struct ml_cost_group *group = group_of(p, block);

    if (is_short < 0)
        p->failed = is_short;
    if (!group)
        return;
    book_allocation(p, group, block, birth);
    if (is_short > 0) {
        book_bytes(p, group, ML_COST_TEMPORARY, block, birth->bytes);
        group->temporary_calls +=
            ml_sample_count(&group->temporary_parts, birth->bytes, mean_of(p, block));
    }
}

static void on_close(void *ctx, const struct ml_block *block, const struct ml_event *event)
{
    struct pass *p = ctx;
    const struct ml_birth *birth = p->failed < 0 ? NULL : ml_births_take(&p->births, block);

    if (birth)
        book_end(p, block, birth, event->time_ns);
}

static int book_live(struct pass *p)
{
    const struct ml_block *block;
    size_t cursor = 0;

    while (p->failed == 0 && (block = ml_replay_next(&p->replay, false, &cursor))) {
        struct ml_cost_group *group = is_selected(p, block) ? group_of(p, block) : NULL;

        if (!group)
            continue;
        book_bytes(p, group, ML_COST_LIVE, block, block->size);
        group->live_blocks += ml_sample_count(&group->live_parts, block->size, mean_of(p, block));
    }
    return p->failed;
}

static void book_reach(struct pass *p, struct ml_cost_group *group, const struct ml_block *block)
{
    uint64_t count = ml_sample_count(&group->leaked_parts, block->size, mean_of(p, block));
    enum ml_reach reach =
        ml_reach_book_of(&p->ret->reach, p->replay.spaces.items[block->space].number, block->addr);

    group->leaked_blocks += count;
    group->reach_blocks[reach] += count;
    group->reach_bytes[reach] += block->size;
}

/* The driver's own memory is not the program's to free. */
static int book_left(struct pass *p)
{
    const struct ml_block *block;
    size_t cursor = 0;

    while (p->failed == 0 && (block = ml_replay_next(&p->replay, true, &cursor))) {
        struct ml_cost_group *group = is_selected(p, block) ? group_of(p, block) : NULL;
        const struct ml_birth *birth = group ? ml_births_take(&p->births, block) : NULL;

        if (!group)
            continue;
        if (birth)
            book_allocation(p, group, block, birth);
        if (p->replay.spaces.items[block->space].drivers_own)
            continue;
        book_bytes(p, group, ML_COST_LEAKED, block, block->size);
        book_reach(p, group, block);
    }
    return p->failed;
}

/* ---- Groups --------------------------------------------------------------- */

static void add_group(struct ml_cost_group *sum, const struct ml_cost_group *group)
{
    for (int i = 0; i < ML_COSTS; i++) {
        if (i != ML_COST_CALLS)
            sum->figures[i] += group->figures[i];
        sum->variances[i] += group->variances[i];
    }
    sum->is_sampled |= group->is_sampled;
    ml_sample_add(&sum->figures[ML_COST_CALLS], &sum->call_parts, group->figures[ML_COST_CALLS],
                  group->call_parts);
    ml_sample_add(&sum->live_blocks, &sum->live_parts, group->live_blocks, group->live_parts);
    ml_sample_add(&sum->leaked_blocks, &sum->leaked_parts, group->leaked_blocks,
                  group->leaked_parts);
    ml_sample_add(&sum->temporary_calls, &sum->temporary_parts, group->temporary_calls,
                  group->temporary_parts);
    for (int i = 0; i < ML_REACHES; i++) {
        sum->reach_bytes[i] += group->reach_bytes[i];
        sum->reach_blocks[i] += group->reach_blocks[i];
    }
}

struct order {
    uint64_t lost; /* comes first, where the memory was searched */
    uint64_t figure;
    uint32_t group;
};

static int largest_first(const void *a, const void *b)
{
    const struct order *x = a, *y = b;

    if (x->lost != y->lost)
        return x->lost < y->lost ? 1 : -1;
    if (x->figure != y->figure)
        return x->figure < y->figure ? 1 : -1;
    return x->group < y->group ? -1 : 1;
}

static uint32_t stack_of(const struct pass *p, uint32_t group)
{
    uint32_t keys[ML_KEYS];

    ml_block_group_keys(&p->groups, group, keys);
    for (size_t i = 0; i < p->ret->by_count; i++)
        if (p->ret->by[i] == ML_KEY_STACK)
            return keys[i];
    return 0;
}

static bool is_left_out(const struct pass *p, uint32_t group)
{
    return p->opts->leaves_out &&
           p->opts->leaves_out(p->opts->ctx, p->replay.trace, stack_of(p, group));
}

static int list_group(struct pass *p, const struct order *order)
{
    struct ml_cost_group group = p->list.items[order->group];

    if (p->ret->groups.len >= p->opts->top) {
        add_group(&p->ret->rest, &group);
        p->ret->rest_count += order->figure > 0;
        return 0;
    }
    group.stack = stack_of(p, order->group);
    if (!p->opts->without_names &&
        ml_block_group_names(&p->groups, order->group, &p->ret->at.arena, group.names) < 0)
        return -ENOMEM;
    return ml_vec_push(&p->ret->groups, group);
}

uint64_t ml_cost_lost_bytes(const struct ml_cost_group *group)
{
    return group->figures[ML_COST_LEAKED] - group->reach_bytes[ML_REACH_REACHABLE];
}

uint64_t ml_cost_lost_blocks(const struct ml_cost_group *group)
{
    return group->leaked_blocks - group->reach_blocks[ML_REACH_REACHABLE];
}

/* For the order of groups. */
static uint64_t lost_of(const struct pass *p, const struct ml_cost_group *group)
{
    return p->opts->of == ML_COST_LEAKED && p->ret->reach.is_there ? ml_cost_lost_bytes(group) : 0;
}

static int list_groups(struct pass *p)
{
    ML_VEC(struct order) orders = {0};
    int r = 0;

    for (uint32_t i = 0; r == 0 && i < p->list.len; i++) {
        uint64_t figure = p->list.items[i].figures[p->opts->of];

        if (is_left_out(p, i)) {
            add_group(&p->ret->left_out, &p->list.items[i]);
            p->ret->left_out_count += figure > 0;
            continue;
        }
        add_group(&p->ret->total, &p->list.items[i]);
        if (figure > 0)
            r = ml_vec_push(&orders, (struct order){lost_of(p, &p->list.items[i]), figure, i});
    }
    ml_vec_sort(&orders, largest_first);
    for (size_t i = 0; r == 0 && i < orders.len; i++)
        r = list_group(p, &orders.items[i]);
    ml_vec_release(&orders);
    return r;
}

double ml_cost_error(const struct ml_cost_report *report, const struct ml_cost_group *group,
                     enum ml_cost cost)
{
    double variance = group->variances[cost];

    if (!group->is_sampled)
        return 0;
    return ml_cost_is_bytes(cost)
               ? ml_sample_error(variance, report->sampled_bytes)
               : ml_sample_count_error(variance, report->largest_weight, report->sampled_bytes);
}

double ml_cost_percent(const struct ml_cost_report *report, const struct ml_cost_group *group)
{
    uint64_t total = report->total.figures[report->of];

    return total ? 100.0 * (double)group->figures[report->of] / (double)total : 0;
}

/* ---- The analysis --------------------------------------------------------- */

static int find_instant(const struct ml_trace *trace, const struct ml_costs_opts *opts,
                        struct ml_cost_report *ret, const struct ml_replay *replay,
                        struct ml_error *err)
{
    int r =
        ml_instant_find(trace, &opts->snapshot.at, opts->snapshot.device, &ret->at.instant, err);
    const char *name;

    if (r == 0 && ml_health_no_frees(&ret->at.instant.health))
        r = ml_error_set(err, -EINVAL,
                         "the imported file contains no frees, so lifetimes are unknown");
    if (r == 0)
        r = ml_snapshot_choose_process(&ret->at, trace, opts->snapshot.pid, err);
    if (r == 0)
        r = ml_instant_device(replay, opts->snapshot.device, &ret->at.device_index, err);
    if (r < 0 || ret->at.device_index < 0)
        return r;
    name = ml_intern_get(&replay->device_names, (uint32_t)ret->at.device_index, NULL);
    ret->at.device = ml_arena_dup(&ret->at.arena, name, strlen(name));
    return ret->at.device ? 0 : -ENOMEM;
}

/* Stops at the instant on the way. */
static int feed(struct pass *p, const struct ml_event *events, size_t count)
{
    uint64_t instant = p->ret->at.instant.event;
    size_t before = 0;
    int r = 0;

    if (p->replay.events < instant && instant - p->replay.events <= count) {
        before = (size_t)(instant - p->replay.events);
        r = ml_replay_feed_all(&p->replay, events, before);
        if (r == 0)
            r = book_live(p);
    }
    return r < 0 ? r : ml_replay_feed_all(&p->replay, events + before, count - before);
}

static int read_all(struct pass *p, struct ml_error *err)
{
    const struct ml_event *events;
    struct ml_cursor *cursor = NULL;
    int n = 0, r = ml_cursor_open(p->replay.trace, 0, UINT64_MAX, &cursor, err);

    p->replay.on_open = on_open;
    p->replay.on_close = on_close;
    p->replay.on_split = on_split;
    p->replay.ctx = p;
    while (r == 0 && (n = ml_cursor_next(cursor, &events, err)) > 0)
        r = feed(p, events, (size_t)n);
    ml_cursor_free(cursor);
    r = r < 0 ? r : n;
    return r < 0 ? r : book_left(p);
}

static int read_and_list(struct pass *p, const struct ml_trace *trace, struct ml_error *err)
{
    struct ml_classes classes;
    int r = ml_classify(trace, &classes, err);

    ml_replay_classify(&p->replay, &classes);
    if (r == 0)
        r = ml_block_groups_init(&p->groups, &p->replay, p->ret->by, p->ret->by_count);
    if (r == 0)
        r = read_all(p, err);
    if (r == 0)
        r = list_groups(p);
    ml_classes_release(&classes);
    return r;
}

int ml_costs(const struct ml_trace *trace, const struct ml_costs_opts *opts,
             struct ml_cost_report *ret, struct ml_error *err)
{
    struct pass p = {.opts = opts, .ret = ret, .births.replay = &p.replay};
    int r = ml_replay_init(&p.replay, trace);

    *ret =
        (struct ml_cost_report){.by_count = opts->by_count, .of = opts->of, .limit = opts->limit};
    memcpy(ret->by, opts->by, sizeof(ret->by));
    ml_snapshot_begin(trace, &ret->at);
    if (r == 0)
        r = ml_reach_book_read(trace, &ret->reach);
    if (r == 0)
        r = find_instant(trace, opts, ret, &p.replay, err);
    if (r == 0)
        r = read_and_list(&p, trace, err);
    ret->at.bytes = ret->total.figures[ML_COST_LIVE];
    ret->at.blocks = ret->total.live_blocks;
    if (r < 0 && err->text[0] == '\0')
        ml_error_set(err, r, "out of memory");
    ml_block_groups_release(&p.groups);
    ml_replay_release(&p.replay);
    ml_births_release(&p.births);
    ml_vec_release(&p.list);
    return r;
}

void ml_cost_report_release(struct ml_cost_report *report)
{
    ml_vec_release(&report->groups);
    ml_reach_book_release(&report->reach);
    ml_snapshot_release(&report->at);
    *report = (struct ml_cost_report){0};
}
