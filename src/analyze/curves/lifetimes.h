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
    const char *label;    /* "" for none */
    const char *module;   /* "GPT > encoder.0"; "" for none */
    const char *line;     /* of the program's own Python code; "" for none */
    const char *function; /* that made the request; "" for none */
    const char *owner; /* the library or program that made the request, "unknown" (stack_owner.h) */
    const char *device;
    uint64_t addr, bytes, requested_bytes;
    uint64_t begin_ns, end_ns; /* not freed: the end of its process, or of the run */
    uint64_t stream;
    uint32_t space, thread, scope, stack, phase; /* numbers of definitions in the trace */
    uint8_t category;
    bool ended, has_stream;
};

struct ml_lifetimes {
    struct ml_arena arena;
    struct ml_health health; /* of the trace */
    uint64_t from_ns, to_ns; /* the time window, at most the run */
    uint64_t duration_ns;    /* of the run */
    uint64_t blocks;         /* all counted allocations */
    uint64_t bytes;
    /* By start; neighbours by address. With columns, a block that outlives the window ends with it,
     * not freed. */
    ML_VEC(struct ml_lifetime) list;
    uint64_t rest_blocks; /* those that are not listed */
    uint64_t rest_bytes;
    ML_VEC(uint64_t) rest_columns; /* their mean bytes in each column */
};

struct ml_lifetimes_opts {
    size_t top; /* among blocks of equal size those that lived longest by the window's end */
    uint64_t from_ns, to_ns; /* only blocks that were live in this window; 0: to the end */
    bool one_moment;         /* only blocks that were live at `from_ns` */
    const char *device;      /* only blocks on it; NULL: all */
    uint32_t pid;            /* only blocks of this process; 0: all */
    uint64_t min_bytes;      /* only blocks of this size or larger */
    /* For a picture with so many columns: the blocks that take most of its area, at least a column
     * each, and the others added up for each column. 0: the largest blocks. */
    size_t columns;
    const uint64_t *near; /* only the block at this address, and those beside it at `from_ns` */
};

/* Reads a part of the trace only, if it has checkpoints and a window is asked for.
 * @ret    to be released, after a failure too
 * @return 0 or negative errno */
int ml_lifetimes(const struct ml_trace *trace, const struct ml_lifetimes_opts *opts,
                 struct ml_lifetimes *ret, struct ml_error *err);
void ml_lifetimes_release(struct ml_lifetimes *lifetimes);

#endif
