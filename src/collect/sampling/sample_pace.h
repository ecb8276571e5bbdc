/* sample_pace.h: when to take the next sample, and which samples are worth
 * writing. Plain arithmetic that reads no clock.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_SAMPLE_PACE_H
#define ML_SAMPLE_PACE_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler.h"

/* An unchanged value is written again after this long, so that a
 * reader of any part of a trace finds one near. */
#define ML_SAMPLE_REPEAT_NS 100000000u

/* Instants at first_ns + k/hz. Missed ones are left out, not made up
 * for: a burst of late samples would add nothing. */
struct ml_pace {
    uint32_t hz; /* at least 1 */
    uint64_t first_ns, last_ns;
    uint64_t taken;
    uint64_t left_out; /* ticks that were not wanted, up to the last that was taken */
    uint64_t leaving_out;
};

/* A sample is taken at `now`. @return when the next is due, later than `now` */
uint64_t ml_pace_take(struct ml_pace *p, uint64_t now_ns);

/* Leaves out that many ticks from the next one on, due at `next_ns`. @return when
 * the one after them is due */
uint64_t ml_pace_leave_out(struct ml_pace *p, uint64_t next_ns, uint32_t ticks);

/* Samples a second from the first to the last, counting those that were not wanted; 0 for
 * fewer than two. */
double ml_pace_achieved_hz(const struct ml_pace *p);

/* For work that is done less often than every tick. True, with the time noted, when `now`
 * is at least `every_ns` after the last time; also the first time. */
struct ml_due {
    uint64_t next_ns;
};
bool ml_due(struct ml_due *due, uint64_t now_ns, uint64_t every_ns);

/* One sample, as the words of its record; `device` is a string of its lane. */
struct ml_sample {
    uint32_t device;
    uint32_t bits; /* enum ml_sample_bits, and the process above them */
    uint64_t used, free, total, by_process;
};

/* The last sample written for one device, or for one process on it. */
struct ml_sample_last {
    struct ml_sample sample;
    uint64_t time_ns;
    bool any;
};

/* Whether to write this one; if so, makes it the last. */
bool ml_sample_is_news(struct ml_sample_last *last, const struct ml_sample *sample,
                       uint64_t now_ns);

#endif
