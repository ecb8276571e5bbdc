/* torch_ranges.c: see torch_ranges.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "torch_ranges.h"

#include <string.h>

size_t ml_torch_ranges_find(const struct ml_torch_ranges *r, uint64_t addr)
{
    size_t low = 0, high = r->list.len;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (r->list.items[middle].end > addr)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Replaces the ranges from `from` to `to` by `count` others, at most two. */
static int replace(struct ml_torch_ranges *r, size_t from, size_t to,
                   const struct ml_torch_range *with, size_t count)
{
    size_t tail = r->list.len - to;

    if (ml_vec_reserve(&r->list, count) < 0)
        return -ENOMEM;
    memmove(r->list.items + from + count, r->list.items + to, tail * sizeof(*with));
    if (count)
        memcpy(r->list.items + from, with, count * sizeof(*with));
    r->list.len = from + count + tail;
    return 0;
}

int ml_torch_ranges_add(struct ml_torch_ranges *r, uint64_t start, uint64_t end)
{
    struct ml_torch_range range = {start, end};
    size_t from, to;

    if (start >= end)
        return 0;
    /* Merge with the ranges that it touches. */
    from = to = ml_torch_ranges_find(r, start ? start - 1 : 0);
    for (; to < r->list.len && r->list.items[to].start <= end; to++) {
        if (r->list.items[to].start < range.start)
            range.start = r->list.items[to].start;
        if (r->list.items[to].end > range.end)
            range.end = r->list.items[to].end;
    }
    return replace(r, from, to, &range, 1);
}

int ml_torch_ranges_remove(struct ml_torch_ranges *r, uint64_t start, uint64_t end)
{
    struct ml_torch_range left[2];
    size_t count = 0, from = ml_torch_ranges_find(r, start), to = from;

    if (start >= end)
        return 0;
    for (; to < r->list.len && r->list.items[to].start < end; to++) {
        struct ml_torch_range old = r->list.items[to];

        if (old.start < start)
            left[count++] = (struct ml_torch_range){old.start, start};
        if (old.end > end)
            left[count++] = (struct ml_torch_range){end, old.end};
    }
    return to == from ? 0 : replace(r, from, to, left, count);
}

void ml_torch_ranges_release(struct ml_torch_ranges *r)
{
    ml_vec_release(&r->list);
}
