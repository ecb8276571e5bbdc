/* live_cuts.c: blocks inside blocks of another space: an arena from malloc in which the program
 * reports blocks, a mapping that contains malloc's blocks. Bytes are counted once, for the
 * innermost block.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "live_table.h"
#include "live_totals.h"

#define NESTED 2 /* a reported block in one of malloc in a mapping */

/* The block of the space that contains the allocation, including the bytes already cut from it.
 * -1 if there is none or too few of its bytes are left. */
static int64_t block_around(const struct ml_replay *r, const struct ml_replay_space *s,
                            const struct ml_event *event)
{
    struct ml_order_entry entry;

    if (event->size == 0 || !ml_order_floor(&s->by_order, event->addr, &entry))
        return -1;
    if (event->size > r->blocks.items[entry.value].size ||
        ml_end_of(event->addr, event->size) > ml_end_of(entry.key, ml_span_of(r, entry.value)))
        return -1;
    return entry.value;
}

/* @return 0 or -ENOMEM */
static int cut(struct ml_replay *r, uint32_t from, uint64_t bytes, uint32_t block)
{
    struct ml_block *b = &r->blocks.items[from];
    struct ml_replay_space *s = &r->spaces.items[b->space];
    uint64_t before = 0;

    ml_map_get(&r->cut_bytes, from, &before);
    if (ml_map_put(&r->cut_bytes, from, before + bytes) < 0 ||
        ml_map_put(&r->cut_from, block, from) < 0)
        return -ENOMEM;
    b->size -= bytes;
    s->bytes.live_bytes -= bytes;
    if (!s->ended)
        ml_totals_remove(r, s, b, bytes);
    return 0;
}

int ml_live_cut(struct ml_replay *r, const struct ml_replay_space *s, const struct ml_event *event,
                uint32_t block)
{
    for (uint32_t i = s->around; i > 0; i = r->spaces.items[i - 1].around) {
        struct ml_replay_space *around = &r->spaces.items[i - 1];
        int64_t from;

        if (!around->ranged && ml_live_make_ranged(r, around) < 0)
            return -ENOMEM;
        from = block_around(r, around, event);
        if (from >= 0)
            return cut(r, (uint32_t)from, event->size, block);
    }
    return 0;
}

/* The larger block may have been freed and its entry reused. */
static bool is_around(const struct ml_block *larger, const struct ml_block *b)
{
    return larger->live && larger->space != b->space && larger->addr <= b->addr &&
           larger->time_ns <= b->time_ns;
}

void ml_live_paste(struct ml_replay *r, uint32_t block, uint64_t time_ns)
{
    const struct ml_block *b = &r->blocks.items[block];
    struct ml_replay_space *s;
    struct ml_block *larger;
    uint64_t index, cut_bytes;

    if (ML_LIKELY(ml_map_len(&r->cut_bytes) == 0))
        return;
    ml_map_take(&r->cut_bytes, block, NULL);
    if (!ml_map_take(&r->cut_from, block, &index))
        return;
    larger = &r->blocks.items[index];
    if (!ml_map_get(&r->cut_bytes, index, &cut_bytes) || cut_bytes < b->size ||
        !is_around(larger, b))
        return;
    ml_map_put(&r->cut_bytes, index, cut_bytes - b->size);
    s = &r->spaces.items[larger->space];
    larger->size += b->size;
    ml_gauge_add(&s->bytes, b->size, time_ns);
    if (!s->ended)
        ml_totals_add(r, s, larger, b->size, time_ns);
}

/* Whether the block is inside one that was allocated at that time. */
static bool is_inside(const struct ml_replay *r, uint32_t block, uint64_t time_ns)
{
    uint64_t larger = block;

    for (int depth = 0; depth < NESTED && ml_map_get(&r->cut_from, larger, &larger); depth++)
        if (r->blocks.items[larger].time_ns == time_ns)
            return true;
    return false;
}

void ml_live_keep_peak(struct ml_replay *r, uint32_t block)
{
    if (r->bytes.live_bytes == r->bytes.peak_bytes && is_inside(r, block, r->bytes.peak_time_ns))
        r->peak_event = r->events;
    if (r->bytes.live_bytes == r->recent_peak.bytes && is_inside(r, block, r->recent_peak.time_ns))
        ml_crest_take(r, r->recent_peak.time_ns);
}
