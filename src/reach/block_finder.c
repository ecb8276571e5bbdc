/* block_finder.c: see block_finder.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "block_finder.h"

static int by_address(const void *left, const void *right)
{
    const struct ml_reach_block *a = left, *b = right;

    return a->begin < b->begin ? -1 : a->begin > b->begin;
}

void ml_block_finder_sort(struct ml_block_finder *finder)
{
    ml_vec_sort(&finder->blocks, by_address);
}

size_t ml_block_finder_after(const struct ml_block_finder *finder, uint64_t address)
{
    size_t low = 0, high = finder->blocks.len;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (finder->blocks.items[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int64_t ml_block_finder_at(const struct ml_block_finder *finder, uint64_t address)
{
    const struct ml_reach_block *blocks = finder->blocks.items;
    size_t count = finder->blocks.len, i;

    /* Most words are no pointers to any block. */
    if (count == 0 || address < blocks[0].begin || address >= blocks[count - 1].end)
        return -1;
    i = ml_block_finder_after(finder, address);
    return i < count && blocks[i].begin <= address ? (int64_t)i : -1;
}

void ml_block_finder_release(struct ml_block_finder *finder)
{
    ml_vec_release(&finder->blocks);
}
