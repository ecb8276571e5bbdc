/* kept_blocks.c: see kept_blocks.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kept_blocks.h"

#include <errno.h>

static struct ml_kept_place *place_of(struct ml_kept_blocks *kept, uint64_t place)
{
    uint64_t index;

    if (ml_map_get(&kept->index, place, &index))
        return &kept->places.items[index];
    index = kept->places.len;
    if (ml_vec_push(&kept->places, (struct ml_kept_place){0}) < 0 ||
        ml_map_put(&kept->index, place, index) < 0)
        return NULL;
    return &kept->places.items[index];
}

static uint32_t slot_of(const struct ml_kept_block *block)
{
    return block->pass < ML_KEPT_FIRST ? block->pass : ML_KEPT_FIRST;
}

int ml_kept_blocks_add(struct ml_kept_blocks *kept, const struct ml_kept_block *block)
{
    struct ml_kept_place *place = place_of(kept, block->place);
    struct ml_kept_sizes *sizes;

    if (!place)
        return -ENOMEM;
    sizes = &place->passes[slot_of(block)];
    if (sizes->max_bytes == 0 || block->size_bytes < sizes->min_bytes)
        sizes->min_bytes = block->size_bytes;
    if (block->size_bytes > sizes->max_bytes)
        sizes->max_bytes = block->size_bytes;
    return block->pass < ML_KEPT_FIRST ? ml_vec_push(&kept->undecided, *block) : 0;
}

int ml_kept_blocks_compare(struct ml_kept_blocks *kept, const struct ml_kept_block *block)
{
    return ml_vec_push(&kept->undecided, *block);
}

static bool is_like(const struct ml_kept_block *block, const struct ml_kept_sizes *sizes)
{
    return sizes->max_bytes > 0 && block->size_bytes >= sizes->min_bytes / 2 &&
           block->size_bytes / 2 <= sizes->max_bytes;
}

static bool another_pass_left_one(const struct ml_kept_blocks *kept,
                                  const struct ml_kept_block *block)
{
    uint64_t index;

    if (!ml_map_get(&kept->index, block->place, &index))
        return false;
    for (uint32_t i = 0; i <= ML_KEPT_FIRST; i++)
        if (i != slot_of(block) && is_like(block, &kept->places.items[index].passes[i]))
            return true;
    return false;
}

void ml_kept_blocks_decide(const struct ml_kept_blocks *kept, uint64_t last_pass,
                           uint8_t *categories)
{
    for (size_t i = 0; i < kept->undecided.len; i++) {
        const struct ml_kept_block *block = &kept->undecided.items[i];
        if (block->freed < last_pass || another_pass_left_one(kept, block))
            categories[block->ordinal] = block->of_each_pass;
    }
}

void ml_kept_blocks_release(struct ml_kept_blocks *kept)
{
    ml_map_release(&kept->index);
    ml_vec_release(&kept->places);
    ml_vec_release(&kept->undecided);
    *kept = (struct ml_kept_blocks){0};
}
