/* block_ranges.c: see block_ranges.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "block_ranges.h"

#include <stdlib.h>

int ml_ranges_add(struct ml_ranges *ranges, const struct ml_block *block)
{
    return ml_vec_push(&ranges->list, (struct ml_range){.from = block->addr, .block = block});
}

void ml_ranges_release(struct ml_ranges *ranges)
{
    ml_vec_release(&ranges->list);
}

static int by_address(const void *a, const void *b)
{
    const struct ml_range *x = a, *y = b;

    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (ml_range_end(x) != ml_range_end(y))
        return ml_range_end(x) > ml_range_end(y) ? -1 : 1;
    return x->block < y->block ? -1 : x->block > y->block;
}

/* The usual case, since addresses rise. Sorting would double the memory. */
static bool in_order(const struct ml_ranges *ranges)
{
    for (size_t i = 1; i < ranges->list.len; i++)
        if (by_address(&ranges->list.items[i - 1], &ranges->list.items[i]) > 0)
            return false;
    return true;
}

void ml_ranges_settle(struct ml_ranges *ranges)
{
    uint64_t taken = 0;

    if (!in_order(ranges))
        ml_vec_sort(&ranges->list, by_address);
    for (size_t i = 0; i < ranges->list.len; i++) {
        struct ml_range *r = &ranges->list.items[i];

        if (r->from < taken)
            r->from = taken;
        taken = ml_range_end(r);
    }
}

size_t ml_ranges_after(const struct ml_ranges *ranges, uint64_t addr)
{
    size_t low = 0, high = ranges->list.len;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (ml_range_end(&ranges->list.items[middle]) > addr)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

uint64_t ml_range_inside(const struct ml_range *range, uint64_t from, uint64_t to)
{
    uint64_t first = ml_max_u64(range->from, from), end = ml_min_u64(ml_range_end(range), to);

    return end > first ? end - first : 0;
}

uint64_t ml_ranges_overlap(const struct ml_ranges *ranges, uint64_t from, uint64_t to)
{
    uint64_t sum = 0;

    for (size_t i = ml_ranges_after(ranges, from);
         i < ranges->list.len && ranges->list.items[i].from < to; i++)
        sum += ml_range_inside(&ranges->list.items[i], from, to);
    return sum;
}
