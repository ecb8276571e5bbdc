/* leaks.h: what grows from step to step: blocks that a step leaves behind, of the
 * same place and purpose, more of them after each.
 *
 * The books of each group are looked at where a step ends and the next begins. What
 * it has then is what was born in that step or before, and stayed. The last step has
 * no such end: what a program frees when it is done would hide what grew.
 *
 * A run without steps is cut into slices of equal time; of equal numbers of events,
 * where it has no times.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_LEAKS_H
#define ML_ANALYZE_LEAKS_H

#include "breakdown.h"
#include "health.h"
#include "stack_view.h"

#define ML_LEAK_WARM_UP (-1) /* 2 steps; 1 where there would not be 3 behind them */

struct ml_leaks_opts {
    enum ml_key by[ML_KEYS];
    size_t by_count; /* 0: where, in which module and for what, as far as the trace tells */
    const char *device;
    uint32_t pid;    /* only this process; 0: the first that marks steps, else all */
    int64_t warm_up; /* first steps that do not count, or ML_LEAK_WARM_UP */
    uint32_t slices; /* cut the run into so many; 0: by steps, if it has any */
    size_t top;      /* groups to list */
};

/* How much like a leak it looks; the first is the strongest. */
enum ml_leak_sign {
    ML_LEAK_STEADY, /* grew in every step, of three or more */
    ML_LEAK_LIKELY, /* never fell, and goes on growing in the second half */
    ML_LEAK_MAYBE,  /* has more in the end, having fallen between; or too few steps to tell */
    ML_LEAK_SIGNS,
};

/* "steady", "likely", "maybe". */
const char *ml_leak_sign_name(enum ml_leak_sign sign);

struct ml_leak {
    enum ml_leak_sign sign;
    const char *names[ML_KEYS];  /* by position in `by`; "" for none */
    struct ml_stack_view stack;  /* of the last block that stayed; no frames: not known */
    uint64_t grown_bytes;        /* from the end of warm-up to the end of the last step */
    int64_t grown_blocks;        /* the same; can be negative, of larger blocks */
    uint64_t live_bytes, blocks; /* at the end of the last step */
    double bytes_per_step, blocks_per_step;
    uint64_t grew, fell; /* in so many steps */
};

enum ml_leak_unit { ML_LEAK_BY_STEP, ML_LEAK_BY_TIME, ML_LEAK_BY_EVENTS };

struct ml_leaks {
    struct ml_snapshot at; /* what was run; the instant's health is that of the trace */
    enum ml_key by[ML_KEYS];
    size_t by_count;
    int64_t process; /* number of the one asked for, -1: none */
    enum ml_leak_unit unit;
    bool no_allocations;                /* in all the trace: nothing can be said */
    uint64_t steps;                     /* that have an end */
    uint64_t warm_up;                   /* of them, not counted */
    uint64_t measured;                  /* the others */
    uint64_t first_number, last_number; /* of the measured; by slices counted from 0 */
    uint64_t from_ns, to_ns;            /* end of warm-up, end of the last */
    uint64_t from_bytes, to_bytes;      /* live then, of what is looked at */
    double bytes_per_step;
    uint32_t other_processes;            /* that marked steps, and are not looked at */
    ML_VEC(struct ml_leak) list;         /* strongest first, then most bytes a step */
    uint64_t found[ML_LEAK_SIGNS];       /* of each sign, listed or not */
    uint64_t found_bytes[ML_LEAK_SIGNS]; /* that they grew by */
};

/* Reads the trace once, once more for categories where it has modules or phases, and
 * once more where it has no steps.
 * @ret    to be released, after a failure too
 * @return 0; -EINVAL where frees are not known; -ENODEV, -ENOENT without such a device or
 *         process; or another negative errno */
int ml_leaks(const struct ml_trace *trace, const struct ml_leaks_opts *opts, struct ml_leaks *ret,
             struct ml_error *err);
void ml_leaks_release(struct ml_leaks *leaks);

#endif
