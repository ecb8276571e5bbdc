/* module_sums.c: see module_sums.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "module_sums.h"

#include <errno.h>

void ml_holding_add(struct ml_holding *sum, const struct ml_holding *part)
{
    for (size_t i = 0; i < ML_CATEGORIES; i++)
        sum->by_category[i] += part->by_category[i];
    sum->bytes += part->bytes;
    sum->blocks += part->blocks;
}

uint64_t ml_holding_rest(const struct ml_holding *holding, unsigned shown)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < ML_CATEGORIES; i++)
        bytes += shown >> i & 1 ? 0 : holding->by_category[i];
    return bytes;
}

static int add_block(struct ml_module_sums *sums, const struct ml_replay *replay,
                     const struct ml_block *block)
{
    int64_t module = ml_modules_of(&sums->modules, block);
    struct ml_holding one = {.bytes = block->size, .blocks = ml_replay_count(replay, block)};

    if (module < 0)
        return -ENOMEM;
    one.by_category[block->category] = block->size;
    ml_holding_add(&sums->own.items[module], &one);
    ml_holding_add(&sums->all, &one);
    return 0;
}

static int add_blocks(struct ml_module_sums *sums, const struct ml_snapshot *at,
                      const struct ml_replay *replay)
{
    const struct ml_block *block;
    size_t cursor = 0;
    int r = ml_modules_init(&sums->modules, replay->trace);

    for (size_t i = 0; r == 0 && i < sums->modules.list.len; i++)
        r = ml_vec_push(&sums->own, (struct ml_holding){0});
    while (r == 0 && (block = ml_snapshot_next(at, replay, &cursor)))
        r = add_block(sums, replay, block);
    return r;
}

int ml_module_sums(const struct ml_trace *trace, const struct ml_snapshot_opts *opts,
                   struct ml_snapshot *ret_at, struct ml_module_sums *ret, struct ml_error *err)
{
    struct ml_replay replay;
    int r = ml_snapshot_sums(trace, opts, ret_at, &replay, err);

    *ret = (struct ml_module_sums){0};
    if (r == 0) {
        r = add_blocks(ret, ret_at, &replay);
        if (r < 0)
            ml_error_set(err, r, "out of memory");
    }
    ml_replay_release(&replay);
    return r;
}

void ml_module_sums_release(struct ml_module_sums *sums)
{
    ml_modules_release(&sums->modules);
    ml_vec_release(&sums->own);
    *sums = (struct ml_module_sums){0};
}
