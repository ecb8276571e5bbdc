/* lifetimes.h: the largest blocks of a run, from allocation to free.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_LIFETIMES_H
#define ML_ANALYZE_LIFETIMES_H

#include "arena.h"
#include "health.h"
#include "trace.h"
#include "vec.h"

struct ml_lifetime {
    const char *label;  /* "" for none */
    const char *module; /* "GPT > encoder.0"; "" for none */
    const char *line;   /* of the program's own Python code; "" for none */
    const char *owner; /* the library or program that made the request, "unknown" (stack_owner.h) */
    const char *device;
    uint64_t bytes;
    uint64_t begin_ns, end_ns; /* the end of the run if it was not freed */
    uint64_t ordinal;          /* in the order of ml_allocations */
    uint8_t category;
    bool ended;
};

struct ml_lifetimes {
    struct ml_arena arena;
    uint64_t from_ns, to_ns; /* the time window, at most the run */
    uint64_t duration_ns;    /* of the run */
    uint64_t blocks;         /* all counted allocations */
    uint64_t bytes;
    ML_VEC(struct ml_lifetime) list; /* by start */
};

struct ml_lifetimes_opts {
    size_t top;              /* among blocks of equal size the longest-lived */
    uint64_t from_ns, to_ns; /* only blocks that were live in this window; 0: to the end */
    const char *device;      /* only blocks on it; NULL: all */
};

/* @ret    to be released, after a failure too
 * @return 0 or negative errno */
int ml_lifetimes(const struct ml_trace *trace, const struct ml_lifetimes_opts *opts,
                 struct ml_lifetimes *ret, struct ml_error *err);
void ml_lifetimes_release(struct ml_lifetimes *lifetimes);

#endif
