/* instant_totals.c: see instant_totals.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "instant_totals.h"

#include <errno.h>
#include <string.h>

static int add_device(const struct ml_replay *replay, uint32_t device,
                      struct ml_instant_totals *ret)
{
    const struct ml_replay_device *d = &replay->devices.items[device];
    struct ml_device_totals row = {.peak_bytes = d->bytes.peak_bytes,
                                   .peak_time_ns = d->bytes.peak_time_ns};
    size_t len;
    const char *name = ml_intern_get(&replay->device_names, device, &len);

    for (size_t i = 0; i < ML_LEVELS; i++) {
        row.levels[i] = d->levels[i].live_bytes;
        row.has_level[i] = d->levels[i].peak_bytes > 0;
    }
    row.name = ml_arena_dup(&ret->at.arena, name, len);
    return row.name ? ml_vec_push(&ret->devices, row) : -ENOMEM;
}

static void add_amount(struct ml_amount *sum, uint64_t bytes, uint64_t blocks)
{
    sum->bytes += bytes;
    sum->blocks += blocks;
}

static void add_blocks(const struct ml_replay *replay, struct ml_instant_totals *ret)
{
    const struct ml_block *block;
    size_t cursor = 0;

    while ((block = ml_snapshot_next(&ret->at, replay, &cursor))) {
        struct ml_device_totals *row =
            &ret->devices.items[replay->spaces.items[block->space].device];

        uint64_t blocks = ml_replay_count(replay, block);

        add_amount(&row->live, block->size, blocks);
        add_amount(&row->by_category[block->category], block->size, blocks);
    }
}

/* Leaves out devices that were not asked for, or never had memory that counts. */
static void choose_devices(struct ml_instant_totals *ret)
{
    size_t kept = 0;

    for (size_t i = 0; i < ret->devices.len; i++)
        if (ret->at.device_index < 0 ? ret->devices.items[i].peak_bytes > 0
                                     : (int64_t)i == ret->at.device_index)
            ret->devices.items[kept++] = ret->devices.items[i];
    ret->devices.len = kept;
}

static int fullest_first(const void *a, const void *b)
{
    const struct ml_device_totals *x = a, *y = b;

    if (x->live.bytes != y->live.bytes)
        return x->live.bytes < y->live.bytes ? 1 : -1;
    return strverscmp(x->name, y->name);
}

int ml_instant_totals(const struct ml_trace *trace, const struct ml_snapshot_opts *opts,
                      struct ml_instant_totals *ret, struct ml_error *err)
{
    struct ml_replay replay;
    int r;

    *ret = (struct ml_instant_totals){0};
    r = ml_snapshot_sums(trace, opts, &ret->at, &replay, err);
    for (uint32_t i = 0; r == 0 && i < replay.devices.len; i++)
        r = add_device(&replay, i, ret);
    if (r == 0) {
        add_blocks(&replay, ret);
        choose_devices(ret);
        ml_vec_sort(&ret->devices, fullest_first);
        ret->peak_bytes = replay.bytes.peak_bytes;
        ret->peak_time_ns = replay.bytes.peak_time_ns;
    } else if (err->text[0] == '\0') {
        ml_error_set(err, r, "out of memory");
    }
    ml_replay_release(&replay);
    return r;
}

void ml_instant_totals_release(struct ml_instant_totals *totals)
{
    ml_vec_release(&totals->devices);
    ml_snapshot_release(&totals->at);
    *totals = (struct ml_instant_totals){0};
}
