/* torch_segments.c: the segments of a device, each with its blocks and the gaps between
 * them, as PyTorch's snapshots list them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "snapshot_parts.h"

#define SMALL_SEGMENT_BYTES (2 << 20) /* PyTorch's segments of small blocks have 2 MiB */

typedef ML_VEC(const struct ml_block *) block_list;

static int by_address(const void *a, const void *b)
{
    const struct ml_block *x = *(const struct ml_block *const *)a;
    const struct ml_block *y = *(const struct ml_block *const *)b;

    return (x->addr > y->addr) - (x->addr < y->addr);
}

/* The live blocks of this role, sorted by address. */
static int gather(const struct ml_snapshot_export *s, enum ml_torch_role role, block_list *ret)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < s->replay.blocks.len; i++) {
        const struct ml_block *block = &s->replay.blocks.items[i];

        if (block->live && !s->replay.spaces.items[block->space].ended &&
            ml_torch_role(s, block) == role)
            r = ml_vec_push(ret, block);
    }
    ml_vec_sort(ret, by_address);
    return r;
}

static void put_number(struct ml_snapshot_export *s, const char *key, uint64_t value)
{
    ml_pickle_put_word(&s->pickle, key);
    ml_pickle_put_u64(&s->pickle, value);
}

static void put_word(struct ml_snapshot_export *s, const char *key, const char *word)
{
    ml_pickle_put_word(&s->pickle, key);
    ml_pickle_put_word(&s->pickle, word);
}

/* @block  NULL: a gap */
static void put_block(struct ml_snapshot_export *s, uint64_t addr, uint64_t size,
                      const struct ml_block *block)
{
    ml_pickle_put_dict(&s->pickle);
    ml_pickle_put_mark(&s->pickle);
    put_number(s, "address", addr);
    put_number(s, "size", size);
    put_number(s, "requested_size", size);
    put_word(s, "state", block ? "active_allocated" : "inactive");
    ml_pickle_put_word(&s->pickle, "frames");
    ml_torch_put_frames(s, block ? block->stack : 0, block ? block->scope : 0);
    ml_pickle_put_set(&s->pickle);
    ml_torch_next_item(s);
}

/* Blocks that do not overlap, with the gaps between them. */
static void put_blocks(struct ml_snapshot_export *s, const struct ml_block *segment,
                       const struct ml_block *const *blocks, size_t count)
{
    uint64_t at = segment->addr, end = ml_end_of(segment->addr, segment->size);
    size_t outer_items = s->items;

    ml_pickle_put_word(&s->pickle, "blocks");
    ml_torch_begin_list(s);
    for (size_t i = 0; i < count; i++) {
        if (blocks[i]->addr < at)
            continue;
        if (blocks[i]->addr > at)
            put_block(s, at, blocks[i]->addr - at, NULL);
        put_block(s, blocks[i]->addr, blocks[i]->size, blocks[i]);
        at = blocks[i]->addr + blocks[i]->size;
    }
    if (at < end)
        put_block(s, at, end - at, NULL);
    ml_torch_end_list(s);
    s->items = outer_items;
}

static uint64_t bytes_of(const struct ml_block *const *blocks, size_t count)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < count; i++)
        bytes += blocks[i]->size;
    return bytes;
}

static void put_segment(struct ml_snapshot_export *s, const struct ml_block *segment,
                        const struct ml_block *const *blocks, size_t count)
{
    uint64_t used = bytes_of(blocks, count);

    ml_pickle_put_dict(&s->pickle);
    ml_pickle_put_mark(&s->pickle);
    put_number(s, "device", s->device->number);
    put_number(s, "address", segment->addr);
    put_number(s, "total_size", segment->size);
    put_number(s, "allocated_size", used);
    put_number(s, "active_size", used);
    put_number(s, "requested_size", used);
    put_number(s, "stream", 0);
    put_word(s, "segment_type", segment->size <= SMALL_SEGMENT_BYTES ? "small" : "large");
    ml_pickle_put_word(&s->pickle, "segment_pool_id");
    ml_pickle_put_u64(&s->pickle, 0);
    ml_pickle_put_u64(&s->pickle, 0);
    ml_pickle_put_pair(&s->pickle);
    ml_pickle_put_word(&s->pickle, "is_expandable");
    ml_pickle_put_false(&s->pickle);
    ml_pickle_put_word(&s->pickle, "frames");
    ml_torch_put_frames(s, segment->stack, segment->scope);
    put_blocks(s, segment, blocks, count);
    ml_pickle_put_set(&s->pickle);
    ml_torch_next_item(s);
}

/* Both lists are in the order of addresses; segments do not overlap. */
static void put_all(struct ml_snapshot_export *s, const block_list *segments,
                    const block_list *blocks)
{
    size_t next = 0;

    for (size_t i = 0; i <= segments->len; i++) {
        const struct ml_block *segment = i < segments->len ? segments->items[i] : NULL;
        uint64_t begin = segment ? segment->addr : UINT64_MAX;
        uint64_t end = segment ? ml_end_of(segment->addr, segment->size) : UINT64_MAX;
        size_t first;

        for (; next < blocks->len && (!segment || blocks->items[next]->addr < begin); next++)
            put_segment(s, blocks->items[next], &blocks->items[next], 1); /* outside all segments */
        first = next;
        while (segment && next < blocks->len &&
               ml_end_of(blocks->items[next]->addr, blocks->items[next]->size) <= end)
            next++;
        if (segment)
            put_segment(s, segment, &blocks->items[first], next - first);
    }
}

int ml_torch_put_segments(struct ml_snapshot_export *s, const struct ml_snapshot_device *device)
{
    int64_t index = ml_intern_find(&s->replay.device_names, device->name, strlen(device->name));
    block_list segments = {0}, blocks = {0};
    int r;

    if (index < 0)
        return 0;
    s->device = device;
    s->device_index = (uint32_t)index;
    r = gather(s, ML_TORCH_SEGMENT, &segments);
    if (r == 0)
        r = gather(s, ML_TORCH_BLOCK, &blocks);
    if (r == 0)
        put_all(s, &segments, &blocks);
    ml_vec_release(&segments);
    ml_vec_release(&blocks);
    return r < 0 ? r : s->error ? s->error : s->pickle.error;
}
