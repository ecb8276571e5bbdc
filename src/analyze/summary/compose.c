/* compose.c: see compose.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compose.h"

#include <errno.h>
#include <stdlib.h>

#include "intern.h"

static bool key_of(const struct ml_block *block, enum ml_group_by by, struct ml_compose_key *ret)
{
    *ret = (struct ml_compose_key){0};
    switch (by) {
    case ML_BY_CATEGORY: ret->category = block->category; return true;
    case ML_BY_SCOPE: ret->scope = block->scope; return true;
    case ML_BY_LABEL:
        *ret = (struct ml_compose_key){block->scope, block->label, block->category};
        return block->label != 0;
    }
    return false;
}

static int compare_u32(uint32_t a, uint32_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_keys(struct ml_compose_key a, struct ml_compose_key b)
{
    int r = compare_u32(a.scope, b.scope);

    if (r == 0)
        r = compare_u32(a.label, b.label);
    return r ? r : compare_u32(a.category, b.category);
}

static int by_bytes(const void *a, const void *b)
{
    const struct ml_composed *x = a, *y = b;

    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return compare_keys(x->key, y->key);
}

static int add(const struct ml_replay *replay, struct ml_composition *c, struct ml_intern *keys,
               const struct ml_block *block, struct ml_compose_key key)
{
    bool drivers_own = replay->spaces.items[block->space].drivers_own, is_new;
    uint64_t blocks = ml_replay_count(replay, block);
    int64_t at = ml_intern_put(keys, &key, sizeof(key), &is_new);

    if (at < 0 || (is_new && ml_vec_push(&c->groups, (struct ml_composed){.key = key}) < 0))
        return -ENOMEM;
    c->groups.items[at].bytes += block->size;
    c->groups.items[at].left_bytes += drivers_own ? 0 : block->size;
    c->groups.items[at].blocks += blocks;
    c->bytes += block->size;
    c->blocks += blocks;
    return 0;
}

int ml_compose(const struct ml_replay *replay, enum ml_group_by by, bool left,
               struct ml_composition *ret)
{
    const struct ml_block *block;
    struct ml_intern keys = {0}; /* key -> index of a group */
    struct ml_compose_key key;
    size_t cursor = 0;
    int r = 0;

    *ret = (struct ml_composition){0};
    while (r == 0 && (block = ml_replay_next(replay, left, &cursor)))
        if (key_of(block, by, &key))
            r = add(replay, ret, &keys, block, key);
    ml_intern_release(&keys);
    ml_vec_sort(&ret->groups, by_bytes);
    return r;
}

void ml_composition_release(struct ml_composition *composition)
{
    ml_vec_release(&composition->groups);
    *composition = (struct ml_composition){0};
}

const struct ml_composed *ml_composition_find(const struct ml_composition *composition,
                                              struct ml_compose_key key)
{
    for (size_t i = 0; i < composition->groups.len; i++)
        if (compare_keys(composition->groups.items[i].key, key) == 0)
            return &composition->groups.items[i];
    return NULL;
}
