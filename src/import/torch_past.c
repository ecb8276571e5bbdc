/* torch_past.c: see torch_past.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "torch_past.h"

#include <stdlib.h>

#include "map.h"

/* The state while entries are undone. Maps: address -> index. */
struct state {
    struct ml_map block_at, segment_at;
    ML_VEC(struct ml_torch_block) blocks;
    ML_VEC(struct ml_torch_segment) segments;
    struct ml_torch_ranges mapped;
};

/* ---- The end ----------------------------------------------------------------- */

static int put_block(struct state *s, const struct ml_torch_block *block)
{
    if (ml_vec_push(&s->blocks, *block) < 0)
        return -ENOMEM;
    return ml_map_put(&s->block_at, block->addr, s->blocks.len - 1);
}

static int put_segment(struct state *s, const struct ml_torch_segment *segment)
{
    if (ml_vec_push(&s->segments, *segment) < 0)
        return -ENOMEM;
    return ml_map_put(&s->segment_at, segment->addr, s->segments.len - 1);
}

static int put_blocks_of(struct ml_torch_snapshot *t, struct state *s,
                         const struct ml_torch_segment *segment)
{
    uint64_t next = segment->addr;

    for (uint32_t i = 0; i < segment->block_count; i++) {
        struct ml_torch_block *block = &t->blocks.items[segment->first_block + i];

        if (!block->has_addr)
            block->addr = next; /* blocks are contiguous */
        next = block->addr + block->size;
        if (block->state == ML_TORCH_ALLOCATED && put_block(s, block) < 0)
            return -ENOMEM;
    }
    return 0;
}

static int put_end(struct ml_torch_snapshot *t, uint32_t device, struct state *s)
{
    for (size_t i = 0; i < t->segments.len; i++) {
        const struct ml_torch_segment *segment = &t->segments.items[i];
        int r;

        if (segment->device != device)
            continue;
        r = segment->expandable ? ml_torch_ranges_add(&s->mapped, segment->addr,
                                                      ml_end_of(segment->addr, segment->size))
                                : put_segment(s, segment);
        if (r < 0 || put_blocks_of(t, s, segment) < 0)
            return -ENOMEM;
    }
    return 0;
}

/* ---- Backwards ------------------------------------------------------------------ */

static void undo_alloc(struct state *s, struct ml_torch_history_entry *entry)
{
    const struct ml_torch_block *block;
    uint64_t index;

    if (!ml_map_take(&s->block_at, entry->addr, &index))
        return;
    block = &s->blocks.items[index];
    if (block->exact && block->size >= entry->size &&
        block->size - entry->size < ML_TORCH_SLACK_UNKNOWN)
        entry->slack = (uint32_t)(block->size - entry->size);
}

static int undo_free(struct state *s, const struct ml_torch_history_entry *entry)
{
    return put_block(s, &(struct ml_torch_block){
                            .addr = entry->addr, .size = entry->size, .requested = entry->size});
}

static int undo(struct state *s, uint32_t device, struct ml_torch_history_entry *entry)
{
    uint64_t end = ml_end_of(entry->addr, entry->size);

    switch ((enum ml_torch_action)entry->action) {
    case ML_TORCH_ALLOC: undo_alloc(s, entry); return 0;
    case ML_TORCH_FREE_REQUESTED: return undo_free(s, entry);
    case ML_TORCH_SEGMENT_ALLOC: ml_map_take(&s->segment_at, entry->addr, NULL); return 0;
    case ML_TORCH_SEGMENT_FREE:
        return put_segment(s, &(struct ml_torch_segment){.addr = entry->addr,
                                                         .size = entry->size,
                                                         .stream = entry->stream,
                                                         .device = device});
    case ML_TORCH_SEGMENT_MAP: return ml_torch_ranges_remove(&s->mapped, entry->addr, end);
    case ML_TORCH_SEGMENT_UNMAP: return ml_torch_ranges_add(&s->mapped, entry->addr, end);
    default: return 0;
    }
}

/* ---- The beginning ---------------------------------------------------------------- */

static int blocks_by_address(const void *a, const void *b)
{
    const struct ml_torch_block *x = a, *y = b;

    return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static int segments_by_address(const void *a, const void *b)
{
    const struct ml_torch_segment *x = a, *y = b;

    return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static int keep_rest(struct state *s, struct ml_torch_past *ret)
{
    uint64_t index;

    for (size_t at = 0; s->blocks.items && ml_map_next(&s->block_at, &at, NULL, &index);)
        if (ml_vec_push(&ret->blocks, s->blocks.items[index]) < 0)
            return -ENOMEM;
    for (size_t at = 0; s->segments.items && ml_map_next(&s->segment_at, &at, NULL, &index);)
        if (ml_vec_push(&ret->segments, s->segments.items[index]) < 0)
            return -ENOMEM;
    ml_vec_sort(&ret->blocks, blocks_by_address);
    ml_vec_sort(&ret->segments, segments_by_address);
    ret->mapped = s->mapped;
    s->mapped = (struct ml_torch_ranges){0};
    return 0;
}

int ml_torch_past_find(struct ml_torch_snapshot *t, uint32_t device, struct ml_torch_past *ret)
{
    struct ml_torch_trace trace = {0};
    struct state s = {0};
    int r = put_end(t, device, &s);

    *ret = (struct ml_torch_past){0};
    if (device < t->traces.len)
        trace = t->traces.items[device];
    for (uint32_t i = trace.count; i-- > 0 && r == 0;)
        r = undo(&s, device, &t->entries.items[trace.first + i]);
    if (r == 0)
        r = keep_rest(&s, ret);
    ml_map_release(&s.block_at);
    ml_map_release(&s.segment_at);
    ml_vec_release(&s.blocks);
    ml_vec_release(&s.segments);
    ml_torch_ranges_release(&s.mapped);
    return r;
}

void ml_torch_past_release(struct ml_torch_past *past)
{
    ml_vec_release(&past->blocks);
    ml_vec_release(&past->segments);
    ml_torch_ranges_release(&past->mapped);
}
