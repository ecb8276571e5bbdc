/* kept_blocks.h: of blocks that outlived the passes after theirs: which are a library's, and
 * which are what the program keeps of each pass.
 *
 * A workspace or a cache is made in the first passes and serves all later ones. An output
 * that a program puts into a list lives as long, but each pass leaves another like it. Two
 * blocks are alike if they were born in the same place and neither is more than twice as
 * large as the other: batches differ.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_KEPT_BLOCKS_H
#define ML_ANALYZE_KEPT_BLOCKS_H

#include <stdint.h>

#include "map.h"
#include "passes.h"
#include "vec.h"

/* What the first passes leave behind may be a library's; later passes leave nothing of the
 * kind. */
#define ML_KEPT_FIRST 2

/* Outlived, so many passes make a block one that is kept. */
#define ML_KEPT_ENOUGH 2

_Static_assert(ML_KEPT_FIRST <= ML_PASSES_MAX && ML_KEPT_ENOUGH <= ML_PASSES_MAX,
               "passes are counted that far");

struct ml_kept_block {
    uint64_t place; /* where it was born, as the caller tells places apart */
    uint64_t size_bytes;
    uint64_t ordinal;
    uint32_t pass;        /* how many had begun before it; ML_KEPT_FIRST: so many or more */
    uint8_t of_each_pass; /* the category if other passes leave one too */
};

/* The smallest and the largest; none if the largest is 0. */
struct ml_kept_sizes {
    uint64_t min_bytes, max_bytes;
};

struct ml_kept_place {
    struct ml_kept_sizes passes[ML_KEPT_FIRST + 1]; /* the last: all later ones */
};

/* Zeroed before the first use. */
struct ml_kept_blocks {
    struct ml_map index; /* place -> entry of places */
    ML_VEC(struct ml_kept_place) places;
    ML_VEC(struct ml_kept_block) first; /* of the first passes, to be decided */
};

/* @return 0 or -ENOMEM */
int ml_kept_blocks_add(struct ml_kept_blocks *kept, const struct ml_kept_block *block);

/* When all have been added: writes the category of those that another pass left too. */
void ml_kept_blocks_decide(const struct ml_kept_blocks *kept, uint8_t *categories);

void ml_kept_blocks_release(struct ml_kept_blocks *kept);

#endif
