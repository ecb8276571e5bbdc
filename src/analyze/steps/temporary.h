/* temporary.h: short-lived blocks, added up over a run or a step: bytes that are allocated again
 * and again and could be kept instead.
 *
 * A block is short-lived if it is freed before its thread makes more than a given number of other
 * allocations, or within a given time. Its purpose does not matter: this is not the category of
 * that name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_TEMPORARY_H
#define ML_ANALYZE_TEMPORARY_H

#include "breakdown.h"

struct ml_temporary_limit {
    bool by_time;
    uint64_t ns;          /* by time: the longest lifetime */
    uint64_t allocations; /* else: the most allocations of its thread before its free */
};

/* Without --within: at most one other allocation of the thread, as in memray. */
#define ML_TEMPORARY_LIMIT                                                                         \
    (struct ml_temporary_limit)                                                                    \
    {                                                                                              \
        .allocations = 1                                                                           \
    }

/* "3": a number of allocations; "20us", "1ms": a time. @return whether it is one of these */
bool ml_temporary_parse(const char *text, struct ml_temporary_limit *ret);

struct ml_temporary_opts {
    enum ml_key by[ML_KEYS];
    size_t by_count;
    const char *device; /* NULL: all */
    bool one_step;      /* only blocks allocated in the step of that number */
    uint64_t step;
    struct ml_temporary_limit limit;
    size_t top;
};

struct ml_temporary_group {
    uint64_t bytes, allocations; /* the sum over all its blocks */
    uint64_t lives_ns;           /* the sum of their lifetimes */
    uint64_t mean_bytes, mean_life_ns;
    double percent;             /* of all temporary bytes */
    const char *names[ML_KEYS]; /* by position in `by`; "" for none */
};

struct ml_temporary {
    struct ml_snapshot at; /* the command; the instant's health is that of the trace */
    enum ml_key by[ML_KEYS];
    size_t by_count;
    bool one_step;
    uint64_t step;
    struct ml_temporary_limit limit;
    uint64_t all_bytes, all_allocations;      /* of any lifetime */
    struct ml_temporary_group total;          /* of the temporary blocks */
    ML_VEC(struct ml_temporary_group) groups; /* most bytes first, at most `top` */
    struct ml_temporary_group rest;           /* the others together, without names */
    size_t rest_count;
};

/* Reads the trace once, and a second time for categories if it has modules or phases.
 * @ret    to be released, after a failure too
 * @return 0; -ENODEV, -ENOENT without such a device or step; -EINVAL if frees are unknown, or
 *         times that the options need; or another negative errno */
int ml_temporary(const struct ml_trace *trace, const struct ml_temporary_opts *opts,
                 struct ml_temporary *ret, struct ml_error *err);
void ml_temporary_release(struct ml_temporary *temporary);

#endif
