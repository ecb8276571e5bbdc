/* passes.h: the number of passes begun before a block was allocated, and since.
 *
 * Allocations are numbered (classify.h), and the start of a pass stores the number of the next
 * one. A block, of which there may be tens of millions, then needs only its own number to find
 * the passes around its allocation.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_PASSES_H
#define ML_ANALYZE_PASSES_H

#include <stdint.h>

#define ML_PASSES_MAX 2 /* more are not distinguished */

/* All zero bytes is a valid one without passes. */
struct ml_passes {
    uint32_t begun;                /* at most ML_PASSES_MAX */
    uint64_t first[ML_PASSES_MAX]; /* the next allocation when the first passes began, in order */
    uint64_t last[ML_PASSES_MAX];  /* the same for the last passes, the latest first; 0: none */
};

/* @next_ordinal  that of the next allocation */
static inline void ml_passes_begin(struct ml_passes *p, uint64_t next_ordinal)
{
    if (p->begun < ML_PASSES_MAX)
        p->first[p->begun++] = next_ordinal;
    p->last[1] = p->last[0];
    p->last[0] = next_ordinal;
}

/* The number of passes begun before this block was allocated, at most ML_PASSES_MAX. */
static inline uint32_t ml_passes_before(const struct ml_passes *p, uint64_t ordinal)
{
    uint32_t count = 0;

    while (count < p->begun && p->first[count] <= ordinal)
        count++;
    return count;
}

/* The number of passes begun since this block was allocated, at most ML_PASSES_MAX. */
static inline uint32_t ml_passes_since(const struct ml_passes *p, uint64_t ordinal)
{
    return (uint32_t)(p->last[0] > ordinal) + (uint32_t)(p->last[1] > ordinal);
}

#endif
