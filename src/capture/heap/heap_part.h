/* heap_part.h: --heap=sample and --heap=large, which record a part of the blocks.
 *
 * A sample is one of the points that are spread over the bytes a thread allocates, at random, a
 * given number of bytes apart on average (a Poisson process). A block that contains such a point is
 * recorded, with a probability of 1 - exp(-size / mean); readers divide its size by that. Until the
 * next point an allocation costs one subtraction and a branch.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_HEAP_PART_H
#define ML_HEAP_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compiler.h"

/* The space of the recorded blocks; 0: there is no part to record. Set last. */
extern uint32_t ml_part_space;
/* Blocks from this size on; 0: samples. */
extern uint64_t ml_part_least;
/* The bytes that this thread may allocate before the next sample. 0 in a new thread. */
extern __thread int64_t ml_part_left;

#define ML_PART_SPACE __atomic_load_n(&ml_part_space, __ATOMIC_RELAXED)

/* Whether to call ml_part_seen for a block. */
static ML_ALWAYS_INLINE bool ml_part_wants(size_t bytes)
{
    if (ML_UNLIKELY(ml_part_least))
        return bytes >= ml_part_least;
    ml_part_left -= (int64_t)bytes;
    return ML_UNLIKELY(ml_part_left < 0);
}

/* Prepares what the session asks for. */
void ml_part_start(uint32_t space, uint64_t sample_bytes, uint64_t least_bytes, uint64_t seed);

/* Nothing more is wanted. */
void ml_part_end(void);

/* Records a block that is wanted, unless this was the thread's first look.
 * @hook  the hook's __builtin_frame_address(0) */
void ml_part_seen(const void *p, size_t bytes, const void *hook);

/* Records the free of a block that may be in ml_recorded_maybe. */
void ml_part_leaves(const void *p);

/* The same for a block that is about to be resized: ml_record_move. @return whether it was
 * recorded; the second puts it back if it could not be resized */
bool ml_part_moves(const void *p);
void ml_part_move_failed(const void *p);

#endif
