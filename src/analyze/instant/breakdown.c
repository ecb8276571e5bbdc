/* breakdown.c: see breakdown.h.
 *
 * Blocks are added up by numbers. Only listed groups get names, so that a million tensors need
 * only as many names as there are rows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "breakdown.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "block_groups.h"
#include "breakdown_keys.h"

struct sum {
    uint64_t bytes, blocks;
    uint32_t group;
    uint32_t keys[ML_KEYS];
};

struct sums {
    const struct ml_breakdown_opts *opts;
    const struct ml_replay *replay;
    struct ml_block_groups groups;
    ML_VEC(struct sum) list; /* by group, until sorted */
    bool from_libc;          /* no block is from elsewhere */
};

static int by_bytes(const void *a, const void *b)
{
    const struct sum *x = a, *y = b;

    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    for (size_t i = 0; i < ML_KEYS; i++)
        if (x->keys[i] != y->keys[i])
            return x->keys[i] < y->keys[i] ? -1 : 1;
    return 0;
}

static int add(struct sums *s, const struct ml_block *block)
{
    int64_t group = ml_block_group_of(&s->groups, block);

    if (group < 0)
        return -ENOMEM;
    if ((size_t)group == s->list.len) {
        struct sum sum = {.group = (uint32_t)group};

        ml_block_group_keys(&s->groups, sum.group, sum.keys);
        if (ml_vec_push(&s->list, sum) < 0)
            return -ENOMEM;
    }
    s->from_libc &= s->replay->spaces.items[block->space].from_libc;
    s->list.items[group].bytes += block->size;
    s->list.items[group].blocks += ml_replay_count(s->replay, block);
    return 0;
}

static int add_all(struct sums *s, const struct ml_snapshot *at)
{
    const struct ml_block *block;
    size_t cursor = 0;
    int r = ml_block_groups_init(&s->groups, s->replay, s->opts->by, s->opts->by_count);

    while (r == 0 && (block = ml_snapshot_next(at, s->replay, &cursor)))
        r = add(s, block);
    ml_vec_sort(&s->list, by_bytes);
    return r;
}

static int list_group(const struct sums *s, const struct sum *sum, struct ml_breakdown *ret)
{
    struct ml_breakdown_group group = {
        .bytes = sum->bytes,
        .blocks = sum->blocks,
        .percent = ml_snapshot_percent(&ret->at, sum->bytes),
    };

    if (ml_block_group_names(&s->groups, sum->group, &ret->at.arena, group.names) < 0)
        return -ENOMEM;
    for (size_t i = 0; i < ret->by_count; i++)
        if (ret->by[i] == ML_KEY_STACK)
            group.stack = sum->keys[i];
    return ml_vec_push(&ret->groups, group);
}

static int list_groups(const struct sums *s, struct ml_breakdown *ret)
{
    size_t listed = s->list.len < s->opts->top ? s->list.len : s->opts->top;
    int r = 0;

    for (size_t i = 0; i < listed && r == 0; i++)
        r = list_group(s, &s->list.items[i], ret);
    for (size_t i = listed; i < s->list.len; i++) {
        ret->rest.bytes += s->list.items[i].bytes;
        ret->rest.blocks += s->list.items[i].blocks;
    }
    ret->rest_count = s->list.len - listed;
    ret->rest.percent = ml_snapshot_percent(&ret->at, ret->rest.bytes);
    return r;
}

static bool has_no_lines(const struct sums *s)
{
    size_t key = 0;

    while (key < s->opts->by_count && s->opts->by[key] != ML_KEY_LINE)
        key++;
    if (key == s->opts->by_count)
        return false;
    for (size_t i = 0; i < s->list.len; i++)
        if (s->list.items[i].keys[key] != 0)
            return false;
    return s->list.len > 0;
}

int ml_breakdown_of(const struct ml_replay *replay, const struct ml_breakdown_opts *opts,
                    struct ml_breakdown *ret)
{
    struct sums s = {.opts = opts, .replay = replay, .from_libc = true};
    int r;

    ret->by_count = opts->by_count;
    memcpy(ret->by, opts->by, sizeof(ret->by));
    r = add_all(&s, &ret->at);
    if (r == 0)
        r = list_groups(&s, ret);
    if (r == 0)
        r = ml_breakdown_tell_stacks_apart(replay->trace, ret);
    ret->no_lines = has_no_lines(&s);
    ret->stackless = ml_stackless_why(replay->trace, s.from_libc);
    ml_vec_release(&s.list);
    ml_block_groups_release(&s.groups);
    return r;
}

int ml_breakdown(const struct ml_trace *trace, const struct ml_breakdown_opts *opts,
                 struct ml_breakdown *ret, struct ml_error *err)
{
    struct ml_replay replay;
    int r;

    *ret = (struct ml_breakdown){0};
    r = ml_snapshot_sums(trace, &opts->snapshot, &ret->at, &replay, err);
    if (r == 0) {
        r = ml_breakdown_of(&replay, opts, ret);
        if (r < 0)
            ml_error_set(err, r, "out of memory");
    }
    ml_replay_release(&replay);
    return r;
}

void ml_breakdown_release(struct ml_breakdown *breakdown)
{
    ml_vec_release(&breakdown->groups);
    ml_snapshot_release(&breakdown->at);
    *breakdown = (struct ml_breakdown){0};
}
