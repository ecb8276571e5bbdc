/* block_finder.h: which block an address is in, among those that a process never freed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REACH_BLOCK_FINDER_H
#define ML_REACH_BLOCK_FINDER_H

#include <stdint.h>

#include "reach_tags.h"
#include "vec.h"

struct ml_reach_block {
    uint64_t begin, end; /* at least one byte */
    uint32_t space;      /* number */
    uint8_t reach;       /* enum ml_reach */
};

struct ml_block_finder {
    ML_VEC(struct ml_reach_block) blocks; /* by address */
};

/* Sorts the blocks; call it before the next two. */
void ml_block_finder_sort(struct ml_block_finder *finder);

/* The number of the block that contains the address; -1: none. */
int64_t ml_block_finder_at(const struct ml_block_finder *finder, uint64_t address);

/* The number of the first block that ends after the address; that of blocks if there is none. */
size_t ml_block_finder_after(const struct ml_block_finder *finder, uint64_t address);

void ml_block_finder_release(struct ml_block_finder *finder);

#endif
