/* ticks.c: reading the clocks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ticks.h"

#include <cpuid.h>

#include "nanoseconds.h"

/* The CPU guarantees that the counter neither stops nor changes its rate. */
static int tsc_is_invariant(void)
{
    unsigned a, b, c, d;

    return __get_cpuid(0x80000007, &a, &b, &c, &d) && d & 1u << 8;
}

uint64_t ml_ticks_now(const struct ml_ticks *t)
{
    uint64_t ticks;

    if (t->mode != ML_CLOCK_TSC)
        return ml_clock_ns(CLOCK_MONOTONIC);
    /* After the reads before it, and before the reads after it: the order in
     * merge.h depends on it. */
    __builtin_ia32_lfence();
    ticks = __builtin_ia32_rdtsc();
    __builtin_ia32_lfence();
    return ticks;
}

void ml_ticks_init(struct ml_ticks *t)
{
    *t = (struct ml_ticks){
        .mode = tsc_is_invariant() ? ML_CLOCK_TSC : ML_CLOCK_MONOTONIC,
        .start_ns = ml_clock_ns(CLOCK_MONOTONIC),
    };
    t->ticks = ml_ticks_now(t);
    ml_ticks_read(t);
}

void ml_ticks_read(struct ml_ticks *t)
{
    uint64_t ticks, ns;

    ticks = ml_ticks_now(t);
    ns = ml_clock_ns(CLOCK_MONOTONIC) - t->start_ns;
    /* A reading that is not later than the last gives no rate: it came too soon, or the
     * counter went back, as it may after a suspend. */
    if (ticks <= t->ticks)
        t->ticks = ticks - 1;
    t->old_ticks = t->ticks;
    t->old_ns = t->ns;
    t->ticks = ticks;
    t->ns = ml_max_u64(ns, t->old_ns);
    t->rate = (uint64_t)(((ml_u128)(t->ns - t->old_ns) << 32) / (ticks - t->old_ticks));
}
