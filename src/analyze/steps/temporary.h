/* temporary.h: what is born and dies quickly, added up over a run or a step: bytes that
 * were asked for again and again, and could have been kept.
 *
 * Quickly is before its thread has made more than so many other allocations, or within
 * a time. What a block was for does not matter: this is not the category of that name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_TEMPORARY_H
#define ML_ANALYZE_TEMPORARY_H

#include "breakdown.h"

struct ml_temporary_limit {
    bool by_time;
    uint64_t ns;          /* by time: the longest life */
    uint64_t allocations; /* else: the most that its thread makes while it lives */
};

/* "3": so many allocations; "20us", "1ms": so much time. @return whether it is one of these */
bool ml_temporary_parse(const char *text, struct ml_temporary_limit *ret);

struct ml_temporary_opts {
    enum ml_key by[ML_KEYS];
    size_t by_count;
    const char *device; /* NULL: all */
    bool one_step;      /* only what was born in the step of that number */
    uint64_t step;
    struct ml_temporary_limit limit;
    size_t top;
};

struct ml_temporary_group {
    uint64_t bytes, allocations; /* of all its blocks, one after the other */
    uint64_t lives_ns;           /* together */
    uint64_t mean_bytes, mean_life_ns;
    double percent;             /* of all temporary bytes */
    const char *names[ML_KEYS]; /* by position in `by`; "" for none */
};

struct ml_temporary {
    struct ml_snapshot at; /* what was run; the instant's health is that of the trace */
    enum ml_key by[ML_KEYS];
    size_t by_count;
    bool one_step;
    uint64_t step;
    struct ml_temporary_limit limit;
    uint64_t all_bytes, all_allocations;      /* whatever their lives */
    struct ml_temporary_group total;          /* of what is temporary */
    ML_VEC(struct ml_temporary_group) groups; /* most bytes first, at most `top` */
    struct ml_temporary_group rest;           /* the others together, without names */
    size_t rest_count;
};

/* Reads the trace once, and once more for categories where it has modules or phases.
 * @ret    to be released, after a failure too
 * @return 0; -ENODEV, -ENOENT without such a device or step; -EINVAL where frees are not
 *         known, or times that are asked for; or another negative errno */
int ml_temporary(const struct ml_trace *trace, const struct ml_temporary_opts *opts,
                 struct ml_temporary *ret, struct ml_error *err);
void ml_temporary_release(struct ml_temporary *temporary);

#endif
