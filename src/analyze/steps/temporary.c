/* temporary.c: see temporary.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "temporary.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "births.h"
#include "block_groups.h"
#include "classify.h"
#include "step_track.h"
#include "text.h"

struct sum {
    uint64_t bytes, allocations, lives_ns;
    uint32_t group;
};

struct pass {
    struct ml_replay replay;
    struct ml_block_groups groups;
    const struct ml_temporary_opts *opts;
    struct ml_temporary *ret;
    struct ml_births births;
    ML_VEC(struct sum) list; /* by group, until sorted */
    struct ml_step_track track;
    bool inside;    /* in the requested step */
    uint64_t found; /* the number of steps with that number */
    int failed;
};

bool ml_temporary_parse(const char *text, struct ml_temporary_limit *ret)
{
    char *end;

    *ret = ML_TEMPORARY_LIMIT;
    if (!text)
        return true;
    if (text[0] != '\0' && strspn(text, "0123456789") == strlen(text)) {
        errno = 0;
        ret->allocations = strtoull(text, &end, 10);
        return errno == 0;
    }
    ret->by_time = true;
    return ml_parse_duration_ns(text, &ret->ns) == 0;
}

/* ---- Allocations and frees --------------------------------------------- */

static bool is_looked_at(const struct pass *p, const struct ml_block *block)
{
    const struct ml_replay_space *space = &p->replay.spaces.items[block->space];

    return space->counted && (!p->opts->one_step || p->inside) &&
           (p->ret->at.device_index < 0 || space->device == p->ret->at.device_index);
}

static void on_open(void *ctx, const struct ml_block *block)
{
    struct pass *p = ctx;
    bool counted = is_looked_at(p, block);

    if (ml_births_open(&p->births, block, counted) < 0) {
        p->failed = -ENOMEM;
        return;
    }
    if (counted) {
        p->ret->all_bytes += block->size;
        p->ret->all_allocations++;
    }
}

static void on_split(void *ctx, const struct ml_block *from, const struct ml_block *rest)
{
    (void)from;
    ml_births_split(&((struct pass *)ctx)->births, rest);
}

static int add(struct pass *p, const struct ml_block *block, uint64_t bytes, uint64_t life_ns)
{
    int64_t group = ml_block_group_of(&p->groups, block);
    struct sum *sum;

    if (group < 0)
        return -ENOMEM;
    if ((size_t)group == p->list.len &&
        ml_vec_push(&p->list, (struct sum){.group = (uint32_t)group}) < 0)
        return -ENOMEM;
    sum = &p->list.items[group];
    sum->bytes += bytes;
    sum->allocations++;
    sum->lives_ns += life_ns;
    return 0;
}

static void on_close(void *ctx, const struct ml_block *block, const struct ml_event *event)
{
    struct pass *p = ctx;
    uint64_t life_ns = event->time_ns - ml_min_u64(block->time_ns, event->time_ns);
    const struct ml_birth *birth = p->failed < 0 ? NULL : ml_births_take(&p->births, block);
    int r;

    if (!birth)
        return;
    r = ml_births_is_short(&p->births, block, birth, event->time_ns, &p->opts->limit);
    if (r > 0)
        r = add(p, block, birth->bytes, life_ns);
    if (r < 0)
        p->failed = -ENOMEM;
}

/* Drops the results for the requested step; its groups stay, empty. */
static void forget(struct pass *p)
{
    for (size_t i = 0; i < p->list.len; i++)
        p->list.items[i] = (struct sum){.group = p->list.items[i].group};
    for (size_t i = 0; i < p->births.list.len; i++)
        p->births.list.items[i].counted = false;
    p->ret->all_allocations = p->ret->all_bytes = 0;
    p->found = 0;
}

static void on_mark(void *ctx, const struct ml_event *event)
{
    struct pass *p = ctx;
    enum ml_step_turn turn = ml_step_track_mark(&p->track, event);

    if (turn == ML_STEP_GOES_ON)
        return;
    if ((p->track.takes_over && p->opts->step >= p->track.number) ||
        (turn == ML_STEP_EVALUATES && p->inside))
        forget(p);
    p->inside =
        (turn == ML_STEP_BEGINS || turn == ML_STEP_RESTARTS) && event->args[1] == p->opts->step;
    p->found += p->inside;
}

/* ---- Groups ------------------------------------------------------------ */

static int by_bytes(const void *a, const void *b)
{
    const struct sum *x = a, *y = b;

    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return x->group < y->group ? -1 : 1;
}

static void add_sum(struct ml_temporary_group *group, const struct sum *sum)
{
    group->bytes += sum->bytes;
    group->allocations += sum->allocations;
    group->lives_ns += sum->lives_ns;
}

static void finish_group(struct ml_temporary_group *group, uint64_t all_bytes)
{
    if (group->allocations == 0)
        return;
    group->mean_bytes = group->bytes / group->allocations;
    group->mean_life_ns = group->lives_ns / group->allocations;
    group->percent = all_bytes ? 100.0 * (double)group->bytes / (double)all_bytes : 0;
}

static void drop_empty(struct pass *p)
{
    size_t kept = 0;

    for (size_t i = 0; i < p->list.len; i++)
        if (p->list.items[i].allocations > 0)
            p->list.items[kept++] = p->list.items[i];
    p->list.len = kept;
}

static int list_groups(struct pass *p, struct ml_temporary *ret)
{
    drop_empty(p);
    ml_vec_sort(&p->list, by_bytes);
    for (size_t i = 0; i < p->list.len; i++)
        add_sum(&ret->total, &p->list.items[i]);
    for (size_t i = 0; i < p->list.len; i++) {
        struct ml_temporary_group group = {0};

        if (i >= p->opts->top) {
            add_sum(&ret->rest, &p->list.items[i]);
            ret->rest_count++;
            continue;
        }
        add_sum(&group, &p->list.items[i]);
        finish_group(&group, ret->total.bytes);
        if (ml_block_group_names(&p->groups, p->list.items[i].group, &ret->at.arena, group.names) <
                0 ||
            ml_vec_push(&ret->groups, group) < 0)
            return -ENOMEM;
    }
    finish_group(&ret->rest, ret->total.bytes);
    finish_group(&ret->total, ret->total.bytes);
    return 0;
}

/* ---- The analysis ------------------------------------------------------ */

static int check(const struct ml_replay *replay, const struct ml_temporary_opts *opts,
                 struct ml_temporary *ret, struct ml_error *err)
{
    struct ml_health health = ml_health_of(replay);
    int r = ml_instant_device(replay, opts->device, &ret->at.device_index, err);

    if (r < 0)
        return r;
    if (ml_health_no_frees(&health))
        return ml_error_set(err, -EINVAL,
                            "the imported file contains no frees, so lifetimes are unknown");
    if (opts->limit.by_time && ml_health_no_times(&health))
        return ml_error_set(err, -EINVAL,
                            "the imported file contains no times: give a number of allocations "
                            "instead");
    if (ret->at.device_index >= 0) {
        const char *name =
            ml_intern_get(&replay->device_names, (uint32_t)ret->at.device_index, NULL);

        ret->at.device = ml_arena_dup(&ret->at.arena, name, strlen(name));
    }
    return 0;
}

static int read_all(struct pass *p, struct ml_error *err)
{
    int r;

    p->replay.on_open = on_open;
    p->replay.on_close = on_close;
    p->replay.on_split = on_split;
    p->replay.on_mark = p->opts->one_step ? on_mark : NULL;
    p->replay.ctx = p;
    r = ml_replay_trace(&p->replay, UINT64_MAX, err);
    if (r < 0)
        return r;
    if (p->failed < 0)
        return ml_error_set(err, p->failed, "not enough memory for the live blocks of the trace");
    ml_step_track_close(&p->track);
    if (p->track.is_behind && p->inside)
        p->found--;
    if (p->opts->one_step && p->track.count == 0)
        return ml_no_steps(p->replay.trace, err);
    if (p->opts->one_step && !p->found)
        return ml_error_set(err, -ENOENT, "there is no step %" PRIu64, p->opts->step);
    return 0;
}

static int read_and_list(struct pass *p, const struct ml_trace *trace, struct ml_temporary *ret,
                         struct ml_error *err)
{
    struct ml_classes classes;
    int r = ml_classify(trace, &classes, err);

    ml_replay_classify(&p->replay, &classes);
    if (r == 0)
        r = ml_block_groups_init(&p->groups, &p->replay, ret->by, ret->by_count);
    if (r == 0)
        r = read_all(p, err);
    if (r == 0)
        r = list_groups(p, ret);
    ret->at.instant.health = ml_health_of(&p->replay);
    ml_classes_release(&classes);
    return r;
}

int ml_temporary(const struct ml_trace *trace, const struct ml_temporary_opts *opts,
                 struct ml_temporary *ret, struct ml_error *err)
{
    struct pass p = {
        .opts = opts, .ret = ret, .track.replay = &p.replay, .births.replay = &p.replay};
    int r = ml_replay_init(&p.replay, trace);

    *ret = (struct ml_temporary){.by_count = opts->by_count,
                                 .one_step = opts->one_step,
                                 .step = opts->step,
                                 .limit = opts->limit};
    memcpy(ret->by, opts->by, sizeof(ret->by));
    ml_snapshot_begin(trace, &ret->at);
    if (r == 0)
        r = check(&p.replay, opts, ret, err);
    if (r == 0)
        r = read_and_list(&p, trace, ret, err);
    if (r < 0 && err->text[0] == '\0')
        ml_error_set(err, r, "out of memory");
    ml_block_groups_release(&p.groups);
    ml_replay_release(&p.replay);
    ml_births_release(&p.births);
    ml_vec_release(&p.list);
    return r;
}

void ml_temporary_release(struct ml_temporary *temporary)
{
    ml_vec_release(&temporary->groups);
    ml_snapshot_release(&temporary->at);
    *temporary = (struct ml_temporary){0};
}
