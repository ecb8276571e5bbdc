/* breakdown.c: see breakdown.h.
 *
 * Blocks are added up by numbers; only groups that are listed get names, so that a
 * million tensors make as many as there are rows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "breakdown.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "breakdown_keys.h"
#include "intern.h"

struct sum {
    uint64_t bytes, blocks;
    uint32_t keys[ML_KEYS];
};

struct sums {
    const struct ml_breakdown_opts *opts;
    const struct ml_replay *replay;
    struct ml_modules modules;
    struct ml_intern index; /* the keys as bytes -> number in list */
    ML_VEC(struct sum) list;
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
    struct sum sum = {0};
    int64_t at;

    for (size_t i = 0; i < s->opts->by_count; i++) {
        int64_t number = ml_key_of(s->opts->by[i], s->replay, &s->modules, block);

        if (number < 0)
            return -ENOMEM;
        sum.keys[i] = (uint32_t)number;
    }
    at = ml_intern_put(&s->index, sum.keys, s->opts->by_count * sizeof(sum.keys[0]), NULL);
    if (at < 0 || ((size_t)at == s->list.len && ml_vec_push(&s->list, sum) < 0))
        return -ENOMEM;
    s->list.items[at].bytes += block->size;
    s->list.items[at].blocks++;
    return 0;
}

static int add_all(struct sums *s, const struct ml_snapshot *at)
{
    const struct ml_block *block;
    size_t cursor = 0;
    int r = ml_modules_init(&s->modules, s->replay->trace);

    while (r == 0 && (block = ml_snapshot_next(at, s->replay, &cursor)))
        r = add(s, block);
    if (s->list.len > 1)
        qsort(s->list.items, s->list.len, sizeof(*s->list.items), by_bytes);
    return r;
}

static int list_group(const struct sums *s, const struct sum *sum, struct ml_breakdown *ret)
{
    struct ml_breakdown_group group = {
        .bytes = sum->bytes,
        .blocks = sum->blocks,
        .percent = ml_snapshot_percent(&ret->at, sum->bytes),
    };

    for (size_t i = 0; i < ret->by_count; i++) {
        group.names[i] =
            ml_key_text(ret->by[i], s->replay, &s->modules, sum->keys[i], &ret->at.arena);
        if (!group.names[i])
            return -ENOMEM;
        if (ret->by[i] == ML_KEY_STACK)
            group.stack = sum->keys[i];
    }
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

int ml_breakdown_of(const struct ml_replay *replay, const struct ml_breakdown_opts *opts,
                    struct ml_breakdown *ret)
{
    struct sums s = {.opts = opts, .replay = replay};
    int r;

    ret->by_count = opts->by_count;
    memcpy(ret->by, opts->by, sizeof(ret->by));
    r = add_all(&s, &ret->at);
    if (r == 0)
        r = list_groups(&s, ret);
    ml_vec_release(&s.list);
    ml_intern_release(&s.index);
    ml_modules_release(&s.modules);
    return r;
}

int ml_breakdown(const struct ml_trace *trace, const struct ml_breakdown_opts *opts,
                 struct ml_breakdown *ret, struct ml_error *err)
{
    struct ml_replay replay;
    int r;

    *ret = (struct ml_breakdown){0};
    r = ml_snapshot(trace, &opts->snapshot, &ret->at, &replay, err);
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
