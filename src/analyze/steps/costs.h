/* costs.h: five figures of each group of blocks over a whole run: bytes at an instant, bytes never
 * freed, bytes allocated in all, bytes in short-lived blocks, and the number of allocations.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_COSTS_H
#define ML_ANALYZE_COSTS_H

#include "breakdown.h"
#include "reach_book.h"
#include "temporary.h"

enum ml_cost {
    ML_COST_LIVE,      /* bytes at the instant, usually the peak */
    ML_COST_LEAKED,    /* bytes never freed */
    ML_COST_ALLOCATED, /* bytes of all allocations */
    ML_COST_TEMPORARY, /* bytes of short-lived blocks, see temporary.h */
    ML_COST_CALLS,     /* number of allocations */
    ML_COSTS,
};

/* "peak", "leaked", "allocated", "temporary", "calls", NULL: the words of --of, by enum ml_cost. */
extern const char *const ml_cost_words[];

/* Whether the figure counts bytes. */
static inline bool ml_cost_is_bytes(enum ml_cost cost)
{
    return cost != ML_COST_CALLS;
}

struct ml_costs_opts {
    struct ml_snapshot_opts snapshot; /* the instant of ML_COST_LIVE; the device of all */
    enum ml_key by[ML_KEYS];
    size_t by_count;
    struct ml_temporary_limit limit;
    enum ml_cost of; /* the order of the groups */
    size_t top;
    bool without_names; /* the groups need no names */
    /* Groups to leave out, by their stack; NULL: none. Only with ML_KEY_STACK among the keys. */
    bool (*leaves_out)(const void *ctx, const struct ml_trace *trace, uint32_t stack);
    const void *ctx;
};

struct ml_cost_group {
    uint64_t figures[ML_COSTS]; /* estimates, where spaces are sampled */
    double variances[ML_COSTS]; /* of the estimates */
    bool is_sampled;            /* some of it: see ml_cost_error */
    /* Of the numbers, not yet in them: see ml_sample_count. */
    uint32_t call_parts, live_parts, leaked_parts, temporary_parts;
    uint64_t live_blocks, leaked_blocks, temporary_calls;
    /* Of what was never freed, by enum ml_reach. */
    uint64_t reach_bytes[ML_REACHES], reach_blocks[ML_REACHES];
    const char *names[ML_KEYS]; /* by position in `by`; "" for none */
    uint32_t stack;             /* for ML_KEY_STACK */
};

struct ml_cost_report {
    struct ml_snapshot at;
    enum ml_key by[ML_KEYS];
    size_t by_count;
    enum ml_cost of;
    struct ml_temporary_limit limit;
    ML_VEC(struct ml_cost_group) groups; /* largest first, at most `top`; none with the figure 0 */
    struct ml_cost_group rest;           /* the others, without names */
    size_t rest_count;
    struct ml_cost_group total;
    struct ml_cost_group left_out; /* not in the total */
    size_t left_out_count;
    struct ml_reach_book reach;
    uint64_t sampled_bytes; /* between two samples on average, … */
    double largest_weight;  /* … and the largest weight of one; see sampled.h */
};

/* Reads the trace to find the instant, for categories if it has modules or phases, and once more.
 * @ret    to be released, after a failure too
 * @return 0; -EINVAL if frees are unknown; or another negative errno, see ml_instant_find */
int ml_costs(const struct ml_trace *trace, const struct ml_costs_opts *opts,
             struct ml_cost_report *ret, struct ml_error *err);
void ml_cost_report_release(struct ml_cost_report *report);

/* Bytes and blocks of the group that were lost, definitely or indirectly, or may have been: those
 * that were not searched for count. */
uint64_t ml_cost_lost_bytes(const struct ml_cost_group *group);
uint64_t ml_cost_lost_blocks(const struct ml_cost_group *group);

/* The standard error of a figure of one of the report's groups, in its unit; 0: it is exact. */
double ml_cost_error(const struct ml_cost_report *report, const struct ml_cost_group *group,
                     enum ml_cost cost);

/* The share of the total of the figure that the groups are ordered by, in percent. */
double ml_cost_percent(const struct ml_cost_report *report, const struct ml_cost_group *group);

#endif
