/* lifetimes.h: the largest blocks of a run, from birth to free.
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
    const char *device;
    uint64_t bytes;
    uint64_t begin_ns, end_ns; /* the run's end if it was not freed */
    uint64_t ordinal;          /* in the order of ml_allocations */
    uint8_t category;
    bool ended;
};

struct ml_lifetimes {
    struct ml_arena arena;
    uint64_t duration_ns; /* of the run */
    uint64_t blocks;      /* of all allocations counted */
    uint64_t bytes;
    ML_VEC(struct ml_lifetime) list; /* the earliest first */
};

/* At most `top`, of equal size those that lived longest.
 * @ret    to be released, after a failure too
 * @return 0 or negative errno */
int ml_lifetimes(const struct ml_trace *trace, size_t top, struct ml_lifetimes *ret,
                 struct ml_error *err);
void ml_lifetimes_release(struct ml_lifetimes *lifetimes);

#endif
