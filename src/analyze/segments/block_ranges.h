/* block_ranges.h: blocks as ranges of addresses, to see which lie in which. Only
 * the ledger and the map of segments include it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_BLOCK_RANGES_H
#define ML_ANALYZE_BLOCK_RANGES_H

#include "replay.h"

/* There may be one for each live block. */
struct ml_range {
    uint64_t from;
    const struct ml_block *block;
};

/* Where it ends: with its block, though what lies over it may have left it no bytes. */
static inline uint64_t ml_range_end(const struct ml_range *range)
{
    return ml_max_u64(ml_end_of(range->block->addr, range->block->size), range->from);
}

struct ml_ranges {
    ML_VEC(struct ml_range) list;
};

/* @return 0 or -ENOMEM */
int ml_ranges_add(struct ml_ranges *ranges, const struct ml_block *block);
void ml_ranges_release(struct ml_ranges *ranges);

/* Puts them in order and makes them disjoint: where several lie over each other
 * the first has the bytes, so that none counts twice. */
void ml_ranges_settle(struct ml_ranges *ranges);

/* The first that ends behind the address; its index, or how many there are. Of
 * settled ranges, as the next. */
size_t ml_ranges_after(const struct ml_ranges *ranges, uint64_t addr);

/* How many bytes of [from, to) lie in them. */
uint64_t ml_ranges_overlap(const struct ml_ranges *ranges, uint64_t from, uint64_t to);

/* How many bytes of the range lie in [from, to). */
uint64_t ml_range_inside(const struct ml_range *range, uint64_t from, uint64_t to);

#endif
