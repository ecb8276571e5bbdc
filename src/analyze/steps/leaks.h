/* leaks.h: memory that grows from step to step: groups of blocks with the same place and purpose
 * that gain blocks in each step.
 *
 * Each group is measured where a step ends and the next begins. It then has the blocks that were
 * allocated in that step or before and are still live. The last step is not measured: the frees
 * at the end of a program would hide the growth.
 *
 * The time after the last step, such as an evaluation, is cut into slices and measured separately.
 *
 * A run without steps is cut into slices of equal time, or of equal numbers of events if it has
 * no times.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_LEAKS_H
#define ML_ANALYZE_LEAKS_H

#include "breakdown.h"
#include "health.h"
#include "stack_view.h"

#define ML_LEAK_WARM_UP (-1) /* 2 steps; 1 if fewer than 3 would remain */

struct ml_leaks_opts {
    enum ml_key by[ML_KEYS];
    size_t by_count; /* 0: place, module and purpose, as far as the trace has them */
    const char *device;
    uint32_t pid;      /* only this process; 0: the first that marks steps, else all */
    int64_t warm_up;   /* first steps that do not count, or ML_LEAK_WARM_UP */
    uint32_t slices;   /* the number of slices of the run; 0: by steps, if it has any */
    uint64_t until_ns; /* the end of the slices; 0: the last allocation */
    size_t top;        /* groups to list */
};

/* How strongly it looks like a leak, strongest first. */
enum ml_leak_sign {
    ML_LEAK_STEADY, /* grew in every step, of three or more */
    ML_LEAK_LIKELY, /* never fell, and still grew in the second half */
    ML_LEAK_MAYBE,  /* is larger at the end but fell in between; or too few steps; or has no more
                       blocks, which become larger ever faster */
    ML_LEAK_SIGNS,
};

/* "steady", "likely", "maybe". */
const char *ml_leak_sign_name(enum ml_leak_sign sign);

struct ml_leak {
    enum ml_leak_sign sign;
    const char *names[ML_KEYS];  /* by position in `by`; "" for none */
    struct ml_stack_view stack;  /* of the last block that stayed; no frames: unknown */
    uint64_t grown_bytes;        /* from the end of warm-up to the end of the last step */
    int64_t grown_blocks;        /* the same; can be negative if blocks became larger */
    uint64_t live_bytes, blocks; /* at the end of the last step */
    double bytes_per_step, blocks_per_step;
    uint64_t grew, fell; /* number of steps */
    uint64_t quiet;      /* last steps, in which it no longer grew */
    uint64_t left_bytes; /* of the growth, in slices: never freed */
};

/* A group of blocks that were never freed. */
struct ml_leak_left {
    const char *names[ML_KEYS]; /* as in ml_leak */
    uint64_t bytes, blocks;
};

#define ML_LEAK_LEFT_LISTED 3

enum ml_leak_unit { ML_LEAK_BY_STEP, ML_LEAK_BY_TIME, ML_LEAK_BY_EVENTS };

/* "step", "time", "events". */
const char *ml_leak_unit_name(enum ml_leak_unit unit);

struct ml_leaks {
    struct ml_snapshot at; /* the command; the instant's health is that of the trace */
    enum ml_key by[ML_KEYS];
    size_t by_count;
    int64_t process; /* number of the requested one, -1: none */
    enum ml_leak_unit unit;
    uint32_t slices;                    /* that the run was cut into; 0: it has steps */
    bool no_allocations;                /* in the whole trace: no result is possible */
    uint64_t steps;                     /* those with an end */
    uint64_t warm_up;                   /* steps of these that do not count */
    uint64_t measured;                  /* the others */
    uint64_t paused;                    /* steps among them that began in a pause: not recorded */
    uint64_t first_number, last_number; /* of the measured; slices are counted from 0 */
    uint64_t from_ns, to_ns;            /* end of warm-up, end of the last */
    uint64_t from_bytes, to_bytes;      /* live then, of the selected blocks */
    double bytes_per_step;
    uint32_t step_pid;                   /* of the process that marked the steps; 0: none did */
    ML_VEC(uint32_t) other_pids;         /* of others that marked steps and are ignored */
    ML_VEC(struct ml_leak) list;         /* strongest first, then by growth in the second half */
    enum ml_stackless stackless;         /* why those listed have no stack, if none has one */
    uint64_t found[ML_LEAK_SIGNS];       /* of each sign, listed or not */
    uint64_t found_bytes[ML_LEAK_SIGNS]; /* their growth */
    uint64_t found_left_bytes;           /* of all of it: never freed, in slices */
    /* Never freed, without the driver's own, if the run was cut into slices. */
    uint64_t left_bytes, left_blocks, left_groups;
    ML_VEC(struct ml_leak_left) left; /* the largest, at most ML_LEAK_LEFT_LISTED */
    /* The time after the last step, cut into slices; NULL unless a group grew there without ever
     * shrinking. Has the same keys, and no `after`. */
    struct ml_leaks *after;
};

/* Reads the trace once, a second time for categories if it has modules or phases, and again if it
 * has no steps, or allocations after the last one.
 * @ret    to be released, after a failure too
 * @return 0; -EINVAL if frees are unknown; -ENODEV, -ENOENT without such a device or process; or
 *         another negative errno */
int ml_leaks(const struct ml_trace *trace, const struct ml_leaks_opts *opts, struct ml_leaks *ret,
             struct ml_error *err);
void ml_leaks_release(struct ml_leaks *leaks);

/* The steps of the program in which the growth took place. */
static inline uint64_t ml_leaks_all_steps(const struct ml_leaks *leaks)
{
    return leaks->measured + leaks->paused;
}

/* Whether the result says what was never freed: it has slices, and the program has ended. */
bool ml_leaks_know_left(const struct ml_leaks *leaks);

#endif
