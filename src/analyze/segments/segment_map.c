/* segment_map.c: see segment_map.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "segment_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_spaces.h"
#include "block_ranges.h"
#include "memledger/memledger.h"
#include "stack_owner.h"

/* The memory of one process on one device. */
struct place {
    uint32_t process, device; /* indices of the replay */
    bool has_blocks;          /* at present or earlier: something allocates blocks here */
    uint32_t level;           /* of its segments */
    uint32_t holder;          /* stack that requested its largest segment with blocks */
    struct ml_ranges segments[ML_LEVELS]; /* by level: driver, pool */
    struct ml_ranges blocks;
};

struct mapper {
    const struct ml_replay *replay;
    struct ml_segment_map *ret;
    ML_VEC(struct place) places;
};

/* ---- Blocks and segments by place -------------------------------------- */

static struct place *find_place(struct mapper *m, const struct ml_replay_space *s)
{
    for (size_t i = 0; i < m->places.len; i++)
        if (m->places.items[i].process == s->process && m->places.items[i].device == s->device)
            return &m->places.items[i];
    if (ml_vec_push(&m->places, (struct place){.process = s->process, .device = s->device}) < 0)
        return NULL;
    return &m->places.items[m->places.len - 1];
}

static const char *space_name(const struct mapper *m, const struct ml_replay_space *s)
{
    return ml_trace_string(m->replay->trace, ml_trace_space(m->replay->trace, s->number)->name,
                           NULL);
}

/* Memory that the driver keeps for itself, or gives out at an unknown place, contains no blocks. */
static bool can_hold(const struct mapper *m, const struct ml_replay_space *s)
{
    const char *name = space_name(m, s);

    if (s->level == MEMLEDGER_POOL)
        return true;
    return s->level == MEMLEDGER_DRIVER &&
           (strcmp(name, ML_CUDA_MEMORY) == 0 || strcmp(name, ML_CUDA_VIRTUAL) == 0 ||
            strncmp(name, "cuda ", 5) != 0);
}

static int take_block(struct mapper *m, const struct ml_block *block)
{
    const struct ml_replay_space *s = &m->replay->spaces.items[block->space];
    struct place *place;

    if (!block->live || s->ended || block->size == 0)
        return 0;
    if (!ml_snapshot_has(&m->ret->at, m->replay, block))
        return 0;
    place = find_place(m, s);
    if (!place)
        return -ENOMEM;
    if (can_hold(m, s))
        return ml_ranges_add(&place->segments[s->level], block);
    if (s->level != MEMLEDGER_BLOCK || strcmp(space_name(m, s), ML_CUDA_ASYNC) == 0)
        return 0;
    return ml_ranges_add(&place->blocks, block);
}

/* A pool whose blocks are all freed is still a pool. */
static void find_pools(struct mapper *m)
{
    for (size_t i = 0; i < m->replay->spaces.len; i++) {
        const struct ml_replay_space *s = &m->replay->spaces.items[i];

        if (s->ended || s->level != MEMLEDGER_BLOCK || s->allocations == 0 ||
            strcmp(space_name(m, s), ML_CUDA_ASYNC) == 0)
            continue;
        for (size_t k = 0; k < m->places.len; k++)
            if (m->places.items[k].process == s->process && m->places.items[k].device == s->device)
                m->places.items[k].has_blocks = true;
    }
}

/* ---- Owners of segments ------------------------------------------------ */

#define OWNER_ROOM 128

static bool same_owner(const struct mapper *m, uint32_t a, uint32_t b)
{
    char of_a[OWNER_ROOM], of_b[OWNER_ROOM];

    return strcmp(ml_stack_owner(m->replay->trace, a, of_a, OWNER_ROOM),
                  ml_stack_owner(m->replay->trace, b, of_b, OWNER_ROOM)) == 0;
}

static bool is_torch(const struct mapper *m, uint32_t stack)
{
    char owner[OWNER_ROOM];

    return strcmp(ml_stack_owner(m->replay->trace, stack, owner, OWNER_ROOM), "PyTorch") == 0;
}

static void find_holder(struct place *place, const struct ml_ranges *segments)
{
    uint64_t most = 0;

    for (size_t i = 0; i < segments->list.len; i++) {
        const struct ml_range *s = &segments->list.items[i];

        if (ml_range_end(s) - s->from > most &&
            ml_ranges_overlap(&place->blocks, s->from, ml_range_end(s)) > 0) {
            most = ml_range_end(s) - s->from;
            place->holder = s->block->stack;
        }
    }
}

/* A driver allocation without blocks is an empty segment if the owner of segments with blocks
 * requested it. Otherwise a library whose blocks are not recorded uses it. If no segment has
 * blocks left, PyTorch's segments are empty ones. */
static bool is_one_block(const struct mapper *m, const struct place *place,
                         const struct ml_range *range)
{
    if (!place->has_blocks)
        return true;
    return place->level == MEMLEDGER_DRIVER &&
           ml_ranges_overlap(&place->blocks, range->from, ml_range_end(range)) == 0 &&
           !same_owner(m, place->holder, range->block->stack) &&
           !(place->holder == 0 && is_torch(m, range->block->stack));
}

/* ---- One segment ------------------------------------------------------- */

static const char *copy_string(struct mapper *m, uint32_t string)
{
    uint32_t len;
    const char *text = ml_trace_string(m->replay->trace, string, &len);

    return string ? ml_arena_dup(&m->ret->at.arena, text, len) : "";
}

static void count_hole(struct ml_segment *segment, uint64_t bytes)
{
    if (bytes == 0)
        return;
    segment->holes++;
    segment->largest_hole = ml_max_u64(segment->largest_hole, bytes);
}

static int add_piece(struct mapper *m, struct ml_segment *segment, uint64_t from, uint64_t bytes,
                     const struct ml_block *block)
{
    struct ml_segment_block piece = {
        .offset = from - segment->addr,
        .bytes = bytes,
        .category = block->category,
        .name = copy_string(m, block->label),
    };

    segment->live_bytes += bytes;
    segment->count++;
    return piece.name ? ml_vec_push(&m->ret->blocks, piece) : -ENOMEM;
}

/* The whole segment as one block, with the name of its owner. */
static int add_whole(struct mapper *m, struct ml_segment *segment, const struct ml_block *block)
{
    char room[OWNER_ROOM];
    const char *owner = ml_stack_owner(m->replay->trace, block->stack, room, OWNER_ROOM);
    struct ml_segment_block *piece;
    int r = add_piece(m, segment, segment->addr, segment->bytes, block);

    if (r < 0 || block->label || block->stack == 0)
        return r;
    piece = &m->ret->blocks.items[m->ret->blocks.len - 1];
    piece->name = ml_arena_dup(&m->ret->at.arena, owner, strlen(owner));
    return piece->name ? 0 : -ENOMEM;
}

static const struct ml_space *block_space(const struct mapper *m, const struct ml_block *block)
{
    return ml_trace_space(m->replay->trace, m->replay->spaces.items[block->space].number);
}

/* The blocks of the range, and the holes between them. */
static int fill_segment(struct mapper *m, const struct place *place, const struct ml_range *range,
                        struct ml_segment *segment)
{
    uint64_t at = range->from, end = ml_range_end(range);
    int r = 0;

    if (is_one_block(m, place, range)) {
        segment->foreign = true;
        return add_whole(m, segment, range->block);
    }
    for (size_t i = ml_ranges_after(&place->blocks, range->from);
         r == 0 && i < place->blocks.list.len && place->blocks.list.items[i].from < end; i++) {
        const struct ml_range *b = &place->blocks.list.items[i];
        uint64_t from = ml_max_u64(b->from, range->from);
        uint64_t bytes = ml_range_inside(b, range->from, end);

        if (bytes == 0)
            continue;
        count_hole(segment, from - at);
        if (segment->count == 0)
            segment->blocks_of = copy_string(m, block_space(m, b->block)->name);
        r = add_piece(m, segment, from, bytes, b->block);
        at = from + bytes;
    }
    count_hole(segment, end - at);
    return r;
}

static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

static int add_segment(struct mapper *m, const struct place *place, const struct ml_range *range)
{
    const struct ml_space *space = block_space(m, range->block);
    struct ml_segment segment = {
        .addr = range->from,
        .bytes = ml_range_end(range) - range->from,
        .device = copy_string(m, space->device),
        .space = copy_string(m, space->name),
        .blocks_of = "",
        .pid = ml_trace_process(m->replay->trace, space->process)->pid,
        .first = m->ret->blocks.len,
    };
    int r = segment.device && segment.space ? 0 : -ENOMEM;

    if (r == 0 && segment.bytes > 0)
        r = fill_segment(m, place, range, &segment);
    if (r == 0 && !segment.blocks_of)
        r = -ENOMEM;
    if (r < 0 || segment.bytes == 0)
        return r;
    segment.slack_bytes = segment.bytes - segment.live_bytes;
    segment.slack_percent = percent(segment.slack_bytes, segment.bytes);
    m->ret->segments++;
    m->ret->bytes += segment.bytes;
    m->ret->live_bytes += segment.live_bytes;
    m->ret->holes += segment.holes;
    m->ret->largest_hole = ml_max_u64(m->ret->largest_hole, segment.largest_hole);
    return ml_vec_push(&m->ret->list, segment);
}

static int add_place(struct mapper *m, struct place *place)
{
    struct ml_ranges *pools = &place->segments[MEMLEDGER_POOL];
    struct ml_ranges *segments = pools->list.len ? pools : &place->segments[MEMLEDGER_DRIVER];
    int r = 0;

    ml_ranges_settle(segments);
    ml_ranges_settle(&place->blocks);
    place->level = pools->list.len ? MEMLEDGER_POOL : MEMLEDGER_DRIVER;
    find_holder(place, segments);
    for (size_t i = 0; r == 0 && i < segments->list.len; i++)
        r = add_segment(m, place, &segments->list.items[i]);
    for (size_t i = 0; segments->list.len > 0 && i < place->blocks.list.len; i++) {
        const struct ml_range *b = &place->blocks.list.items[i];

        m->ret->stray_bytes +=
            ml_range_end(b) - b->from - ml_ranges_overlap(segments, b->from, ml_range_end(b));
    }
    return r;
}

/* ---- All segments ------------------------------------------------------ */

static int largest_first(const void *a, const void *b)
{
    const struct ml_segment *x = a, *y = b;
    int by_device = strcmp(x->device, y->device);

    if (by_device)
        return by_device;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static int map_all(struct mapper *m)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < m->replay->blocks.len; i++)
        r = take_block(m, &m->replay->blocks.items[i]);
    find_pools(m);
    for (size_t i = 0; r == 0 && i < m->places.len; i++)
        r = add_place(m, &m->places.items[i]);
    ml_vec_sort(&m->ret->list, largest_first);
    return r;
}

static void release_places(struct mapper *m)
{
    for (size_t i = 0; i < m->places.len; i++) {
        for (size_t level = 0; level < ML_LEVELS; level++)
            ml_ranges_release(&m->places.items[i].segments[level]);
        ml_ranges_release(&m->places.items[i].blocks);
    }
    ml_vec_release(&m->places);
}

int ml_segment_map_of(const struct ml_replay *replay, struct ml_segment_map *ret)
{
    struct mapper mapper = {.replay = replay, .ret = ret};
    int r = map_all(&mapper);

    ret->slack_bytes = ret->bytes - ret->live_bytes;
    ret->slack_percent = percent(ret->slack_bytes, ret->bytes);
    release_places(&mapper);
    return r;
}

int ml_segment_map(const struct ml_trace *trace, const struct ml_snapshot_opts *opts, size_t top,
                   struct ml_segment_map *ret, struct ml_error *err)
{
    struct ml_replay replay;
    int r;

    *ret = (struct ml_segment_map){0};
    r = ml_snapshot(trace, opts, &ret->at, &replay, err);
    if (r == 0)
        r = ml_segment_map_of(&replay, ret);
    if (r == 0 && ret->segments == 0)
        r = ml_error_set(err, -ENOENT,
                         "the trace has no pool or driver segments at this instant; only GPU "
                         "memory has segments");
    if (ret->list.len > top)
        ret->list.len = top;
    if (r < 0 && err->text[0] == '\0')
        ml_error_set(err, r, "out of memory");
    ml_replay_release(&replay);
    return r;
}

void ml_segment_map_release(struct ml_segment_map *map)
{
    ml_vec_release(&map->list);
    ml_vec_release(&map->blocks);
    ml_snapshot_release(&map->at);
    *map = (struct ml_segment_map){0};
}
