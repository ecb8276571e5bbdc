/* passes.h: how often a pass has begun, as seen from a block: before it was allocated, and
 * since.
 *
 * Allocations are numbered (classify.h), and a pass that begins takes down the number of
 * the next one. A block, of which there may be tens of millions, then needs no more than
 * its own number to say how far the passes had come at its birth.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_PASSES_H
#define ML_ANALYZE_PASSES_H

#include <stdint.h>

#define ML_PASSES_MAX 2 /* more are not told apart */

/* All zero bytes is one without passes. */
struct ml_passes {
    uint32_t begun;                /* at most ML_PASSES_MAX */
    uint64_t first[ML_PASSES_MAX]; /* the next allocation when they began; in order */
    uint64_t last[ML_PASSES_MAX];  /* the latest first; 0 where there is none */
};

/* @next_ordinal  that of the next allocation */
static inline void ml_passes_begin(struct ml_passes *p, uint64_t next_ordinal)
{
    if (p->begun < ML_PASSES_MAX)
        p->first[p->begun++] = next_ordinal;
    p->last[1] = p->last[0];
    p->last[0] = next_ordinal;
}

/* How many had begun when this block was allocated, at most ML_PASSES_MAX. */
static inline uint32_t ml_passes_before(const struct ml_passes *p, uint64_t ordinal)
{
    uint32_t count = 0;

    while (count < p->begun && p->first[count] <= ordinal)
        count++;
    return count;
}

/* How many have begun since this block was allocated, at most ML_PASSES_MAX. */
static inline uint32_t ml_passes_since(const struct ml_passes *p, uint64_t ordinal)
{
    return (uint32_t)(p->last[0] > ordinal) + (uint32_t)(p->last[1] > ordinal);
}

#endif
