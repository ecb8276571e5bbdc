/* kept_blocks.h: among blocks that outlive later passes, separates those of a library from those
 * that the program keeps from each pass.
 *
 * A workspace or a cache is allocated in the first passes and serves all later ones. An output
 * that a program appends to a list lives as long, but each pass leaves a similar one. Two blocks
 * are similar if they were allocated in the same place and neither is more than twice as large as
 * the other, because batch sizes vary. A block that is freed before the last pass serves no later
 * one: a cycle of references may have kept it until the garbage collector ran.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_KEPT_BLOCKS_H
#define ML_ANALYZE_KEPT_BLOCKS_H

#include <stdint.h>

#include "map.h"
#include "passes.h"
#include "vec.h"

/* The number of first passes whose remaining blocks may belong to a library. Later passes leave
 * no such blocks. */
#define ML_KEPT_FIRST 2

/* A block that outlives this many passes is a kept block. */
#define ML_KEPT_ENOUGH 2

_Static_assert(ML_KEPT_FIRST <= ML_PASSES_MAX && ML_KEPT_ENOUGH <= ML_PASSES_MAX,
               "passes are counted that far");

#define ML_KEPT_ON UINT64_MAX

struct ml_kept_block {
    uint64_t place; /* where it was allocated; the caller decides what a place is */
    uint64_t size_bytes;
    uint64_t ordinal;
    uint64_t freed;       /* the ordinal of the next allocation then; ML_KEPT_ON: not freed */
    uint32_t pass;        /* passes begun before it, at most ML_KEPT_FIRST */
    uint8_t of_each_pass; /* its category if other passes leave one too */
};

/* The smallest and the largest; no blocks if the largest is 0. */
struct ml_kept_sizes {
    uint64_t min_bytes, max_bytes;
};

struct ml_kept_place {
    struct ml_kept_sizes passes[ML_KEPT_FIRST + 1]; /* the last: all later ones */
};

/* Starts zeroed. */
struct ml_kept_blocks {
    struct ml_map index; /* place -> entry of places */
    ML_VEC(struct ml_kept_place) places;
    ML_VEC(struct ml_kept_block) undecided; /* of the first passes, and those to compare */
};

/* @return 0 or -ENOMEM */
int ml_kept_blocks_add(struct ml_kept_blocks *kept, const struct ml_kept_block *block);

/* A block that has not outlived enough passes. It gets its category of each pass if one of the
 * first passes left a block like it. @return 0 or -ENOMEM */
int ml_kept_blocks_compare(struct ml_kept_blocks *kept, const struct ml_kept_block *block);

/* Call it after the last block: writes the category of those that another pass left too, and of
 * those that were freed before the last pass.
 * @last_pass  the ordinal of the next allocation when it began; 0: no pass */
void ml_kept_blocks_decide(const struct ml_kept_blocks *kept, uint64_t last_pass,
                           uint8_t *categories);

void ml_kept_blocks_release(struct ml_kept_blocks *kept);

#endif
