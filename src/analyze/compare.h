/* compare.h: several runs side by side, each against the first.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_COMPARE_H
#define ML_ANALYZE_COMPARE_H

#include "summary.h"

/* A value of a run beside the first run's. */
struct ml_change {
    uint64_t value;
    int64_t difference; /* value - the first run's */
    double percent;     /* of the first run's; 0 when equal, infinite when that was 0 */
};

struct ml_compare_run {
    const char *name;
    const char *file;
    size_t given; /* its place among the runs given, 0 is the one compared with */
    struct ml_change peak, live, allocations, duration;
    uint64_t peak_time_ns;
    const struct ml_health *health; /* in the summary given */
};

/* One category, and its bytes at the peak of each run. */
struct ml_compare_category {
    const char *name;
    struct ml_change *at_peak; /* one per run, in the order of `runs` */
    uint64_t largest_change;   /* among the runs, without its sign */
};

struct ml_compare {
    struct ml_arena arena;
    ML_VEC(struct ml_compare_run) runs; /* the first, then the largest increase of the peak first */
    ML_VEC(struct ml_compare_category) categories; /* largest change first */
    double worst_increase_percent;                 /* of the peak; negative when all are smaller */
};

struct ml_compare_input {
    const char *name, *file;
    const struct ml_summary *summary;
};

/* Compares two runs or more. The inputs must outlive the result.
 * @ret    to be released, after a failure too
 * @return 0 or -ENOMEM */
int ml_compare(const struct ml_compare_input *inputs, size_t count, struct ml_compare *ret);
void ml_compare_release(struct ml_compare *compare);

#endif
