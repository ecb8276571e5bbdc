/* compose.c: see compose.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "compose.h"

#include <errno.h>
#include <stdlib.h>

static bool key_of(const struct ml_block *block, enum ml_group_by by, uint64_t *ret)
{
    switch (by) {
    case ML_BY_CATEGORY: *ret = block->category; return true;
    case ML_BY_SCOPE: *ret = block->scope; return true;
    case ML_BY_LABEL: *ret = (uint64_t)block->scope << 32 | block->label; return block->label != 0;
    }
    return false;
}

static int by_bytes(const void *a, const void *b)
{
    const struct ml_composed *x = a, *y = b;

    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return x->key < y->key ? -1 : x->key > y->key;
}

static int add(const struct ml_replay *replay, struct ml_composition *c, struct ml_map *index,
               const struct ml_block *block, uint64_t key)
{
    bool drivers_own = replay->spaces.items[block->space].drivers_own;
    uint64_t at, blocks = ml_replay_count(replay, block);

    if (!ml_map_get(index, key, &at)) {
        at = c->groups.len;
        if (ml_vec_push(&c->groups, (struct ml_composed){.key = key, .category = block->category}) <
                0 ||
            ml_map_put(index, key, at) < 0)
            return -ENOMEM;
    }
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
    struct ml_map index = {0};
    size_t cursor = 0;
    uint64_t key;
    int r = 0;

    *ret = (struct ml_composition){0};
    while (r == 0 && (block = ml_replay_next(replay, left, &cursor)))
        if (key_of(block, by, &key))
            r = add(replay, ret, &index, block, key);
    ml_map_release(&index);
    ml_vec_sort(&ret->groups, by_bytes);
    return r;
}

void ml_composition_release(struct ml_composition *composition)
{
    ml_vec_release(&composition->groups);
    *composition = (struct ml_composition){0};
}

const struct ml_composed *ml_composition_find(const struct ml_composition *composition,
                                              uint64_t key)
{
    for (size_t i = 0; i < composition->groups.len; i++)
        if (composition->groups.items[i].key == key)
            return &composition->groups.items[i];
    return NULL;
}
