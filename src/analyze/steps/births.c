/* births.c: see births.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "births.h"

#include <errno.h>

static size_t index_of(const struct ml_births *births, const struct ml_block *block)
{
    return (size_t)(block - births->replay->blocks.items);
}

void ml_births_release(struct ml_births *births)
{
    ml_vec_release(&births->list);
    ml_thread_counts_release(&births->threads);
}

int ml_births_open(struct ml_births *births, const struct ml_block *block, bool counted)
{
    size_t index = index_of(births, block);
    uint64_t *count = ml_thread_count(&births->threads, ml_block_thread(block));

    if (!count)
        return -ENOMEM;
    while (births->list.len <= index)
        if (ml_vec_push(&births->list, (struct ml_birth){0}) < 0)
            return -ENOMEM;
    births->list.items[index] =
        (struct ml_birth){.count = ++*count, .bytes = block->size, .counted = counted};
    return 0;
}

void ml_births_split(struct ml_births *births, const struct ml_block *rest)
{
    size_t index = index_of(births, rest);

    if (index < births->list.len)
        births->list.items[index].counted = false;
}

const struct ml_birth *ml_births_take(struct ml_births *births, const struct ml_block *block)
{
    size_t index = index_of(births, block);

    if (index >= births->list.len || !births->list.items[index].counted)
        return NULL;
    births->list.items[index].counted = false;
    return &births->list.items[index];
}

int ml_births_is_short(struct ml_births *births, const struct ml_block *block,
                       const struct ml_birth *birth, uint64_t end_ns,
                       const struct ml_temporary_limit *limit)
{
    const uint64_t *count;

    if (limit->by_time)
        return end_ns - ml_min_u64(block->time_ns, end_ns) <= limit->ns;
    count = ml_thread_count(&births->threads, ml_block_thread(block));
    return count ? *count - birth->count <= limit->allocations : -ENOMEM;
}
