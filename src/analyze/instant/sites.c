/* sites.c: see sites.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sites.h"

#include <errno.h>
#include <string.h>

#include "allocations.h"

/* The site of a block, added if it is new; NULL: out of memory. */
static struct ml_site *site_of(struct ml_sites *sites, const struct ml_block *block,
                               const char *device)
{
    int64_t module = ml_modules_of(&sites->modules, block);
    int64_t device_number = ml_intern_put(&sites->devices, device, strlen(device), NULL);
    uint32_t key[4];
    bool is_new = false;
    int64_t number;

    if (module < 0 || device_number < 0)
        return NULL;
    key[0] = block->stack;
    key[1] = (uint32_t)module;
    key[2] = (uint32_t)device_number;
    key[3] = block->category;
    number = ml_intern_put(&sites->keys, key, sizeof(key), &is_new);
    if (number < 0)
        return NULL;
    if (is_new && ml_vec_push(&sites->list, (struct ml_site){.stack = key[0],
                                                             .module = key[1],
                                                             .device = key[2],
                                                             .category = block->category}) < 0)
        return NULL;
    return &sites->list.items[number];
}

static int add_live(struct ml_sites *sites, const struct ml_replay *replay)
{
    const struct ml_block *block;
    size_t cursor = 0;

    while ((block = ml_snapshot_next(&sites->at, replay, &cursor))) {
        uint32_t device = replay->spaces.items[block->space].device;
        struct ml_site *site =
            site_of(sites, block, ml_intern_get(&replay->device_names, device, NULL));

        if (!site)
            return -ENOMEM;
        site->live_bytes += block->size;
        site->live_blocks += ml_replay_count(replay, block);
    }
    return 0;
}

static int add_allocation(struct ml_sites *sites, const struct ml_trace *trace,
                          const struct ml_allocation *a)
{
    const char *device = ml_trace_string(trace, ml_trace_space(trace, a->space)->device, NULL);
    struct ml_block block = {
        .scope = a->scope, .stack = a->stack, .label = a->label, .category = a->category};
    struct ml_site *site;

    /* A part of a block is already counted with the block. */
    if (!a->counted || a->ordinal == ML_NO_ORDINAL ||
        (sites->at.device && strcmp(sites->at.device, device) != 0))
        return 0;
    site = site_of(sites, &block, device);
    if (!site)
        return -ENOMEM;
    site->total_bytes += a->size;
    site->total_blocks++;
    return 0;
}

static int add_totals(struct ml_sites *sites, const struct ml_trace *trace, struct ml_error *err)
{
    struct ml_allocations *all = NULL;
    const struct ml_allocation *rows;
    int n, r = ml_allocations_open(trace, &all, err);

    while (r == 0 && (n = ml_allocations_next(all, &rows, err)) != 0) {
        if (n < 0)
            r = n;
        for (int i = 0; r == 0 && i < n; i++)
            r = add_allocation(sites, trace, &rows[i]);
    }
    ml_allocations_free(all);
    return r;
}

int ml_sites(const struct ml_trace *trace, const struct ml_sites_opts *opts, struct ml_sites *ret,
             struct ml_error *err)
{
    struct ml_replay replay;
    int r;

    *ret = (struct ml_sites){0};
    r = ml_snapshot_sums(trace, &opts->snapshot, &ret->at, &replay, err);
    if (r == 0)
        r = ml_modules_init(&ret->modules, trace);
    if (r == 0)
        r = add_live(ret, &replay);
    ml_replay_release(&replay);
    if (r == 0 && opts->totals)
        r = add_totals(ret, trace, err);
    if (r < 0 && !err->text[0])
        ml_error_set(err, r, "out of memory");
    return r;
}

void ml_sites_release(struct ml_sites *sites)
{
    ml_snapshot_release(&sites->at);
    ml_modules_release(&sites->modules);
    ml_intern_release(&sites->devices);
    ml_intern_release(&sites->keys);
    ml_vec_release(&sites->list);
}
