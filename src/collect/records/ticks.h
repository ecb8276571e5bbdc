/* ticks.h: the clock that records are stamped with, and nanoseconds from it.
 *
 * Targets stamp records with the CPU's time stamp counter if it runs at a
 * constant rate, else with CLOCK_MONOTONIC. The collector reads both clocks at
 * every pass and interpolates between the last two readings, so no rate has to
 * be known or measured first, and errors do not accumulate.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TICKS_H
#define ML_TICKS_H

#include <stdint.h>

#include "compiler.h"
#include "ring.h"

/* Some seconds of any clock: a pass takes less. */
#define ML_TICKS_AHEAD (UINT64_C(1) << 35)

struct ml_ticks {
    uint32_t mode;      /* enum ml_clock */
    uint64_t start_ns;  /* CLOCK_MONOTONIC at time 0 */
    uint64_t ticks;     /* the newest reading … */
    uint64_t ns;        /* … and its time since the start */
    uint64_t old_ticks; /* the reading before */
    uint64_t old_ns;
    uint64_t rate; /* nanoseconds per tick between the two, 32.32 fixed point */
};

/* Chooses the clock; time 0 is now. */
void ml_ticks_init(struct ml_ticks *t);

/* The clock that records are stamped with. From any thread: only the mode is
 * read, which never changes. */
uint64_t ml_ticks_now(const struct ml_ticks *t);

/* Reads both clocks: stamps up to then can be converted. */
void ml_ticks_read(struct ml_ticks *t);

/* The full stamp of a record whose low ML_TIME_BITS are `low`, made at most a few
 * seconds after the newest reading, or hours before it. An older record
 * is taken for a younger one, never for a future one, which would never be read. */
static inline uint64_t ml_ticks_unwrap(const struct ml_ticks *t, uint64_t low)
{
    uint64_t latest = t->ticks + ML_TICKS_AHEAD;
    return latest - ((latest - low) & ((UINT64_C(1) << ML_TIME_BITS) - 1));
}

/* Nanoseconds since the start. A stamp from before the last reading but one becomes
 * that reading: its order among other threads' records is already settled. */
static inline uint64_t ml_ticks_ns(const struct ml_ticks *t, uint64_t ticks)
{
    if (ticks <= t->old_ticks)
        return t->old_ns;
    return t->old_ns + (uint64_t)(((ml_u128)(ticks - t->old_ticks) * t->rate) >> 32);
}

#endif
