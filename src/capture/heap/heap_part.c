/* heap_part.c: see heap_part.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "heap_part.h"

#include <stdatomic.h>
#include <unistd.h>

#include "call_stack.h"
#include "heap_start.h"
#include "natural_log.h"
#include "record.h"
#include "recorded_blocks.h"
#include "recorder.h"

uint32_t ml_part_space;
uint64_t ml_part_least;
__thread int64_t ml_part_left;

static uint64_t sample_mean;
static uint64_t sample_seed; /* 0: each thread takes its own from the clock */

/* Of the calling thread; 0: it has drawn nothing yet. */
static __thread uint64_t random_state;

void ml_part_start(uint32_t space, uint64_t sample_bytes, uint64_t least_bytes, uint64_t seed)
{
    sample_mean = sample_bytes;
    sample_seed = seed;
    ml_part_least = least_bytes;
    __atomic_store_n(&ml_part_space, space, __ATOMIC_RELEASE);
}

void ml_part_end(void)
{
    __atomic_store_n(&ml_part_space, 0, __ATOMIC_RELAXED);
}

/* ---- Chance -------------------------------------------------------------------------- */

/* A step of splitmix64. */
static uint64_t next_random(void)
{
    uint64_t x = random_state += UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static void begin_thread(void)
{
    static _Atomic uint64_t threads;
    uint64_t number = atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed) + 1;
    uint64_t begin = sample_seed ? sample_seed : ml_now() ^ (uint64_t)(uintptr_t)&number;

    random_state = begin + number * UINT64_C(0xd1342543de82ef95);
}

/* The distance to the next point: exponentially distributed, rounded down to whole bytes. Forked
 * children inherit the state. The clock makes their samples different, so that the errors of
 * workers that do the same do not add up. */
static int64_t draw(void)
{
    double uniform;

    if (!sample_seed)
        random_state ^= ml_now();
    /* From 1 to 2^53: never 0, and every value is exact. */
    uniform = (double)((next_random() >> 11) + 1);
    return (int64_t)((53 * ML_LN_2 - ml_natural_log(uniform)) * (double)sample_mean);
}

/* Whether the block contains a point. The distance to the next one is counted from its end: where
 * in it the point was does not matter, because the process has no memory. */
static bool is_sample(size_t bytes)
{
    if (ML_UNLIKELY(!random_state)) {
        begin_thread();
        ml_part_left = draw() - (int64_t)bytes;
        if (ml_part_left >= 0)
            return false;
    }
    ml_part_left = draw();
    return true;
}

/* ---- Records --------------------------------------------------------------------------- */

ML_NOINLINE void ml_part_seen(const void *p, size_t bytes, const void *hook)
{
    uint32_t space = ML_PART_SPACE;

    if (!ml_part_least && !is_sample(bytes))
        return;
    if (!ml_recorded_put(p))
        ml_recorder_cannot_follow(); /* its free would not be recorded */
    else if (ML_HEAP_STACKS)
        ml_call_stack_alloc(space, p, bytes, hook);
    else
        ml_record_alloc(space, p, bytes);
}

ML_NOINLINE void ml_part_leaves(const void *p)
{
    if (ml_recorded_take(p))
        ml_record_free(ML_PART_SPACE, p);
}

/* During a pause moves are dropped (turns.c), so the old block ends by a free. */
ML_NOINLINE bool ml_part_moves(const void *p)
{
    if (!ml_recorded_take(p))
        return false;
    if (ML_UNLIKELY(ml_turn_is_paused())) {
        ml_record_free(ML_PART_SPACE, p);
        return false;
    }
    ml_record_move(ML_PART_SPACE, p);
    return true;
}

ML_NOINLINE void ml_part_move_failed(const void *p)
{
    if (ml_recorded_put(p))
        ml_record_move_failed(ML_PART_SPACE, p);
    else
        ml_recorder_cannot_follow();
}
