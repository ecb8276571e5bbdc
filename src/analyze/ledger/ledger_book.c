/* ledger_book.c: the entries of one device in a replay at an instant.
 *
 * Blocks are matched to the driver's allocations by address. A block may span several of them
 * (expandable segments are mapped page by page), and every byte counts once, even if blocks
 * overlap. Stream-ordered blocks are the exception: the allocation of their pool that contains
 * them is unknown, so the pools are treated as a whole.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "block_ranges.h"
#include "cuda_spaces.h"
#include "ledger_tally.h"
#include "memledger/memledger.h"

#define COMMAND_SHOWN 60

/* The role of a space's blocks in the book. */
enum role {
    NOTHING,
    CONTAINER, /* may contain blocks */
    OWNED,     /* driver allocation without blocks, listed by owner */
    TAKEN,     /* the driver's own */
    POOL,      /* memory of the driver's pools */
    POOL_BLOCK,
    SEGMENT,
    BLOCK,
    HOST_BLOCK,
};

struct space_role {
    enum role role;
    enum ml_ledger_group group; /* for OWNED, TAKEN and HOST_BLOCK */
};

struct named_space {
    const char *name;
    struct space_role is;
};

static const struct named_space host_spaces[] = {
    {ML_HEAP_SPACE_NAME, {HOST_BLOCK, ML_GROUP_HEAP}},
    {ML_MAP_SPACE_NAME, {HOST_BLOCK, ML_GROUP_MAPPINGS}},
    {ML_CUDA_PINNED, {HOST_BLOCK, ML_GROUP_PINNED}},
    {ML_CUDA_REGISTERED, {HOST_BLOCK, ML_GROUP_PINNED}},
    {ML_TORCH_SPACE_NAME, {HOST_BLOCK, ML_GROUP_TORCH}},
};

static const struct named_space driver_spaces[] = {
    {ML_CUDA_ARRAYS, {OWNED, ML_GROUP_ARRAYS}},
    {ML_CUDA_GRAPHS, {OWNED, ML_GROUP_GRAPHS}},
    {ML_CUDA_MODULES, {OWNED, ML_GROUP_MODULES}},
    {ML_CUDA_POOLS, {POOL, ML_GROUP_ASYNC}},
    {ML_CUDA_CONTEXT, {TAKEN, ML_GROUP_CONTEXT}},
    {ML_CUDA_LIMITS, {TAKEN, ML_GROUP_LIMITS}},
    {ML_CUDA_ROUNDING, {TAKEN, ML_GROUP_ROUNDING}},
    {ML_CUDA_OTHER, {TAKEN, ML_GROUP_OTHER}},
    {ML_CUDA_BEFORE, {TAKEN, ML_GROUP_BEFORE}},
    {ML_CUDA_BEFORE_ALL, {TAKEN, ML_GROUP_BEFORE_ALL}},
};

/* The part of the book for one process. */
struct page {
    const struct ml_replay *replay;
    int64_t device; /* in the replay */
    bool host;
    uint32_t process;
    bool has_driver, has_segments;
    struct ml_ranges containers, segments, blocks, pool_blocks;
    uint64_t pool_bytes, pool_block_bytes;
    uint64_t pool_growth; /* the largest growth of a pool, and its stack */
    uint32_t pool_asker;
    uint64_t block_bytes, placed_bytes;
    struct ml_ledger_tally tally;
};

/* ---- Roles of blocks --------------------------------------------------- */

static struct space_role find_name(const struct named_space *spaces, size_t count, const char *name,
                                   struct space_role otherwise)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, spaces[i].name) == 0)
            return spaces[i].is;
    return otherwise;
}

static struct space_role role_on_gpu(uint32_t level, const char *name)
{
    if (level == MEMLEDGER_POOL)
        return (struct space_role){SEGMENT, ML_GROUP_BLOCKS};
    if (level == MEMLEDGER_BLOCK)
        return (struct space_role){strcmp(name, ML_CUDA_ASYNC) ? BLOCK : POOL_BLOCK,
                                   ML_GROUP_BLOCKS};
    return find_name(driver_spaces, ML_ARRAY_SIZE(driver_spaces), name,
                     (struct space_role){CONTAINER, ML_GROUP_BLOCKS});
}

/* On the host, bytes of inner blocks are already cut from the blocks around them (replay.h).
 * Higher levels are not charged. */
static struct space_role role_on_host(uint32_t level, const char *name)
{
    if (level != MEMLEDGER_BLOCK)
        return (struct space_role){NOTHING, ML_GROUP_REPORTED};
    return find_name(host_spaces, ML_ARRAY_SIZE(host_spaces), name,
                     (struct space_role){HOST_BLOCK, ML_GROUP_REPORTED});
}

static bool is_ours(const struct page *p, const struct ml_replay_space *s)
{
    return s->process == p->process && s->device == p->device && !s->ended;
}

static void note_pool(struct page *p, const struct ml_block *entry)
{
    p->pool_bytes += entry->size;
    if (entry->size > p->pool_growth) {
        p->pool_growth = entry->size;
        p->pool_asker = entry->stack;
    }
}

static int take_block(struct page *p, const struct ml_block *block, struct space_role role)
{
    switch (role.role) {
    case CONTAINER: return ml_ranges_add(&p->containers, block);
    case SEGMENT: return ml_ranges_add(&p->segments, block);
    case BLOCK: p->block_bytes += block->size; return ml_ranges_add(&p->blocks, block);
    case POOL: note_pool(p, block); return 0;
    case POOL_BLOCK:
        p->pool_block_bytes += block->size;
        return ml_ranges_add(&p->pool_blocks, block);
    case OWNED: return ml_tally_owner(&p->tally, role.group, p->replay->trace, block);
    case HOST_BLOCK:
        return ml_tally_block(&p->tally, role.group, p->replay->trace, block, block->size);
    case TAKEN: return ml_tally_whole(&p->tally, role.group, block->size);
    case NOTHING: return 0;
    }
    return 0;
}

/* Roles by index of the space; NOTHING for spaces of other processes and devices. */
static void find_roles(struct page *p, struct space_role *ret)
{
    for (size_t i = 0; i < p->replay->spaces.len; i++) {
        const struct ml_replay_space *s = &p->replay->spaces.items[i];
        uint32_t string = ml_trace_space(p->replay->trace, s->number)->name;
        const char *name = ml_trace_string(p->replay->trace, string, NULL);

        if (!is_ours(p, s))
            continue;
        ret[i] = p->host ? role_on_host(s->level, name) : role_on_gpu(s->level, name);
        p->has_driver |= s->level == MEMLEDGER_DRIVER;
        p->has_segments |= s->level == MEMLEDGER_POOL;
    }
}

static int gather(struct page *p)
{
    struct space_role *roles = calloc(p->replay->spaces.len + 1, sizeof(*roles));
    int r = 0;

    if (!roles)
        return -ENOMEM;
    find_roles(p, roles);
    for (size_t i = 0; i < p->replay->blocks.len && r == 0; i++) {
        const struct ml_block *block = &p->replay->blocks.items[i];

        if (block->live && block->size > 0)
            r = take_block(p, block, roles[block->space]);
    }
    free(roles);
    ml_ranges_settle(&p->containers);
    ml_ranges_settle(&p->segments);
    ml_ranges_settle(&p->blocks);
    ml_ranges_settle(&p->pool_blocks);
    return r;
}

static void release_page(struct page *p)
{
    ml_ranges_release(&p->containers);
    ml_ranges_release(&p->segments);
    ml_ranges_release(&p->blocks);
    ml_ranges_release(&p->pool_blocks);
    ml_ledger_tally_release(&p->tally);
}

/* ---- Blocks inside allocations ----------------------------------------- */

/* The contents of a range of addresses. */
struct contents {
    uint64_t blocks;             /* bytes of blocks */
    uint64_t segments;           /* bytes of segments */
    uint64_t blocks_in_segments; /* bytes of blocks in segments */
};

/* Blocks in private pools are entered by pool. */
static int enter_block(struct page *p, enum ml_ledger_group group, const struct ml_range *range,
                       const struct ml_range *block, uint64_t bytes)
{
    const struct ml_trace *trace = p->replay->trace;

    if (group == ML_GROUP_PRIVATE)
        return ml_tally_pool(&p->tally, trace, range->block, block->block, bytes);
    return ml_tally_block(&p->tally, group, trace, block->block, bytes);
}

/* Enters the blocks in the range. */
static int enter_blocks(struct page *p, enum ml_ledger_group group, const struct ml_range *range,
                        struct contents *ret)
{
    uint64_t end = ml_range_end(range);
    int r = 0;

    *ret = (struct contents){.segments = ml_ranges_overlap(&p->segments, range->from, end)};
    for (size_t i = ml_ranges_after(&p->blocks, range->from);
         r == 0 && i < p->blocks.list.len && p->blocks.list.items[i].from < end; i++) {
        const struct ml_range *b = &p->blocks.list.items[i];
        uint64_t from = b->from > range->from ? b->from : range->from;
        uint64_t bytes = ml_range_inside(b, range->from, end);

        ret->blocks += bytes;
        ret->blocks_in_segments += ml_ranges_overlap(&p->segments, from, from + bytes);
        r = enter_block(p, group, range, b, bytes);
    }
    p->placed_bytes += ret->blocks;
    return r;
}

static int enter_slack(struct page *p, const struct contents *in, uint64_t bytes)
{
    int64_t all = (int64_t)(bytes - in->blocks);
    int64_t segments = (int64_t)(in->segments - in->blocks_in_segments);
    int r;

    if (!p->has_segments)
        return ml_tally_slack(&p->tally, ML_GROUP_BLOCKS, ML_SLACK, all);
    r = ml_tally_slack(&p->tally, ML_GROUP_BLOCKS, ML_SLACK_SEGMENTS, segments);
    if (r == 0)
        r = ml_tally_slack(&p->tally, ML_GROUP_BLOCKS, ML_SLACK_OUTSIDE,
                           ml_ledger_difference(all, segments));
    return r;
}

/* A labelled allocation that contains blocks, or did, is part of a private pool. */
static int enter_container(struct page *p, const struct ml_range *range)
{
    bool is_private = range->block->label != 0 && p->blocks.list.len > 0 &&
                      !ml_tally_is_nccl(p->replay->trace, range->block->label);
    struct contents in;
    int r = enter_blocks(p, is_private ? ML_GROUP_PRIVATE : ML_GROUP_BLOCKS, range, &in);

    if (r < 0)
        return r;
    if (is_private)
        return ml_tally_pool(&p->tally, p->replay->trace, range->block, NULL,
                             range->block->size - in.blocks);
    if (in.blocks == 0 && in.segments == 0)
        return ml_tally_owner(&p->tally, ML_GROUP_DIRECT, p->replay->trace, range->block);
    return enter_slack(p, &in, range->block->size);
}

/* A stream-ordered block that contains others is a pool itself. Most have no stack: they go to
 * the stack that made the pool grow most. */
static int enter_pool_block(struct page *p, const struct ml_range *range)
{
    struct ml_block block = *range->block;
    struct contents in;
    int r = enter_blocks(p, ML_GROUP_ASYNC, range, &in);

    if (r < 0)
        return r;
    if (block.stack == 0)
        block.stack = p->pool_asker;
    if (in.blocks == 0)
        return ml_tally_block(&p->tally, ML_GROUP_ASYNC, p->replay->trace, &block, block.size);
    return ml_tally_slack(&p->tally, ML_GROUP_ASYNC, ML_SLACK,
                          (int64_t)(range->block->size - in.blocks));
}

/* For a process whose driver calls are not recorded: only its segments, or its blocks, are
 * known. */
static int enter_reported(struct page *p)
{
    struct contents in;
    int r = 0;

    for (size_t i = 0; i < p->segments.list.len && r == 0; i++) {
        const struct ml_range *range = &p->segments.list.items[i];

        r = enter_blocks(p, ML_GROUP_REPORTED, range, &in);
        if (r == 0)
            r = ml_tally_slack(&p->tally, ML_GROUP_REPORTED, ML_SLACK,
                               (int64_t)(range->block->size - in.blocks));
    }
    for (size_t i = 0; i < p->blocks.list.len && r == 0; i++) {
        const struct ml_range *b = &p->blocks.list.items[i];
        uint64_t end = ml_range_end(b);
        uint64_t bytes = end - b->from - ml_ranges_overlap(&p->segments, b->from, end);

        p->placed_bytes += bytes;
        if (bytes > 0)
            r = ml_tally_block(&p->tally, ML_GROUP_REPORTED, p->replay->trace, b->block, bytes);
    }
    return r;
}

static int fill(struct page *p)
{
    int r = gather(p);

    if (r == 0 && !p->has_driver)
        r = enter_reported(p);
    for (size_t i = 0; i < p->containers.list.len && r == 0; i++)
        r = enter_container(p, &p->containers.list.items[i]);
    for (size_t i = 0; i < p->pool_blocks.list.len && r == 0; i++)
        r = enter_pool_block(p, &p->pool_blocks.list.items[i]);
    if (r == 0)
        r = ml_tally_slack(&p->tally, ML_GROUP_ASYNC, ML_SLACK,
                           (int64_t)(p->pool_bytes - p->pool_block_bytes));
    return r;
}

/* ---- Processes --------------------------------------------------------- */

static bool has_entries(const struct ml_replay *replay, uint32_t process, int64_t device,
                        const uint32_t *left, size_t left_count)
{
    uint32_t s = replay->processes.items[process].first_space;

    for (size_t i = 0; i < left_count; i++)
        if (replay->processes.items[process].number == left[i])
            return false;
    for (; s > 0; s = replay->spaces.items[s - 1].next_of_process) {
        const struct ml_replay_space *space = &replay->spaces.items[s - 1];

        if (space->device == device && !space->ended && space->bytes.live_bytes > 0)
            return true;
    }
    return false;
}

static uint64_t managed_bytes(const struct ml_replay *replay, uint32_t process)
{
    int64_t device = ml_intern_find(&replay->device_names, ML_CUDA_MANAGED_DEVICE,
                                    strlen(ML_CUDA_MANAGED_DEVICE));
    uint32_t s = replay->processes.items[process].first_space;
    uint64_t sum = 0;

    for (; s > 0; s = replay->spaces.items[s - 1].next_of_process)
        if (replay->spaces.items[s - 1].device == device && !replay->spaces.items[s - 1].ended)
            sum += replay->spaces.items[s - 1].bytes.live_bytes;
    return sum;
}

/* "process 4711: python3 train.py" */
static struct ml_ledger_entry *process_entry(const struct ml_replay *replay, uint32_t process,
                                             struct ml_ledger_entry *book, struct ml_arena *arena)
{
    const struct ml_process *def =
        ml_trace_process(replay->trace, replay->processes.items[process].number);
    char name[COMMAND_SHOWN + 32];

    snprintf(name, sizeof(name), "process %u: %.*s", def->pid, COMMAND_SHOWN,
             ml_trace_string(replay->trace, def->command, NULL));
    return ml_ledger_add(book, name, 0, arena);
}

static int add_process(const struct ml_replay *replay, uint32_t process, int64_t device, size_t top,
                       struct ml_ledger_entry *into, struct ml_arena *arena, uint64_t *stray)
{
    const char *name = ml_intern_get(&replay->device_names, (uint32_t)device, NULL);
    struct page p = {.replay = replay,
                     .process = process,
                     .device = device,
                     .host = strcmp(name, ML_LEDGER_HOST) == 0};
    int r = fill(&p);

    if (r == 0)
        r = ml_tally_write(&p.tally, replay->trace, top, into, arena);
    *stray += p.block_bytes - p.placed_bytes;
    release_page(&p);
    return r;
}

int ml_ledger_book(const struct ml_replay *replay, const char *device, const uint32_t *left,
                   size_t left_count, size_t top, struct ml_ledger_entry *book,
                   struct ml_arena *arena, uint64_t *ret_stray, uint64_t *ret_managed)
{
    int64_t index = ml_intern_find(&replay->device_names, device, strlen(device));
    size_t processes = 0;
    int r = 0;

    *ret_stray = *ret_managed = 0;
    for (uint32_t i = 0; i < replay->processes.len; i++)
        processes += has_entries(replay, i, index, left, left_count);
    for (uint32_t i = 0; i < replay->processes.len && r == 0; i++) {
        struct ml_ledger_entry *into = book;

        if (!has_entries(replay, i, index, left, left_count))
            continue;
        if (processes > 1)
            into = process_entry(replay, i, book, arena);
        r = into ? add_process(replay, i, index, top, into, arena, ret_stray) : -ENOMEM;
        *ret_managed += managed_bytes(replay, i);
    }
    ml_ledger_settle(book);
    return r;
}
