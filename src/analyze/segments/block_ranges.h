/* block_ranges.h: blocks as ranges of addresses, to find which contains which. Only the ledger
 * and the map of segments include it.
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

/* The end of the block, even if overlapping blocks took all of its bytes. */
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

/* Sorts the ranges and makes them disjoint: where several overlap, the first gets the bytes, so
 * that none counts twice. */
void ml_ranges_settle(struct ml_ranges *ranges);

/* The index of the first range that ends after the address, or the number of ranges. The ranges
 * must be settled, also for the next function. */
size_t ml_ranges_after(const struct ml_ranges *ranges, uint64_t addr);

/* The number of bytes of [from, to) in the ranges. */
uint64_t ml_ranges_overlap(const struct ml_ranges *ranges, uint64_t from, uint64_t to);

/* The number of bytes of the range in [from, to). */
uint64_t ml_range_inside(const struct ml_range *range, uint64_t from, uint64_t to);

#endif
