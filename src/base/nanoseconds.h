/* nanoseconds.h: a clock as one number. Freestanding: usable inside the target.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_BASE_NANOSECONDS_H
#define ML_BASE_NANOSECONDS_H

#include <stdint.h>
#include <time.h>

static inline uint64_t ml_clock_ns(clockid_t clock)
{
    struct timespec ts;

    clock_gettime(clock, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

#endif
