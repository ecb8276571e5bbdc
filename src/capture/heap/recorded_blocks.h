/* recorded_blocks.h: the live blocks that were recorded, where not all are.
 *
 * Most frees are of other blocks. For these it takes one load from a small filter to know; only
 * blocks that may have been recorded are looked up. Takes no lock; async-signal-safe; allocates
 * address space only. Forked children inherit the set.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_RECORDED_BLOCKS_H
#define ML_RECORDED_BLOCKS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler.h"

#define ML_RECORDED_FILTER_BITS 15

/* How many recorded blocks have this hash; one that has reached 255 stays there. */
extern _Atomic uint8_t ml_recorded_filter[1u << ML_RECORDED_FILTER_BITS];

static ML_ALWAYS_INLINE uint64_t ml_recorded_hash(const void *p)
{
    return (uintptr_t)p * UINT64_C(0x9e3779b97f4a7c15);
}

/* False for most blocks that are not in the set. A thread that was handed a block sees it. */
static ML_ALWAYS_INLINE bool ml_recorded_maybe(const void *p)
{
    return atomic_load_explicit(
        &ml_recorded_filter[ml_recorded_hash(p) >> (64 - ML_RECORDED_FILTER_BITS)],
        memory_order_relaxed);
}

/* Adds a block that is not in the set. @return false: there is no room */
bool ml_recorded_put(const void *p);

/* Removes a block. @return whether it was in the set */
bool ml_recorded_take(const void *p);

#endif
