/* compare.h: several runs side by side, each against the first.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_COMPARE_H
#define ML_ANALYZE_COMPARE_H

#include "level_caps.h"
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
    uint64_t left_bytes; /* never freed, without the driver's own */
    uint64_t peak_time_ns;
    const struct ml_health *health; /* in the summary given */
};

/* One category, and its bytes at the peak of each run. */
struct ml_compare_category {
    const char *name;
    struct ml_change *at_peak; /* one per run, in the order of `runs` */
    uint64_t largest_change;   /* among the runs, without its sign */
};

/* What was sampled: the most in use on a GPU, or the RSS of the largest process. */
struct ml_compare_sampled {
    const char *name;
    struct ml_change *peak; /* one per run, in the order of `runs` */
};

/* A device that a run used, and its own peak in each run. */
struct ml_compare_device {
    const char *name;
    struct ml_change *peak;     /* one per run, in the order of `runs` */
    const uint64_t *left_bytes; /* likewise: never freed, without the driver's own */
};

/* A device that is counted at a lower level than a run alone would be. */
struct ml_compare_level {
    const char *device;
    const char *level;
};

struct ml_compare {
    struct ml_arena arena;
    ML_VEC(struct ml_compare_run) runs; /* the first, then the largest increase of the peak first */
    ML_VEC(struct ml_compare_category) categories; /* largest change first */
    ML_VEC(struct ml_compare_device) devices;      /* where there are several */
    ML_VEC(struct ml_compare_level) levels;
    bool by_samples; /* no run has allocations: what was sampled is compared */
    ML_VEC(struct ml_compare_sampled) sampled; /* then; GPUs first */
    /* Of a peak, also of each device where there are several; negative when all are smaller. */
    double worst_increase_percent;
};

struct ml_compare_input {
    const char *name, *file;
    const struct ml_summary *summary;
    const struct ml_trace *trace; /* of which it is; only compare_view.h wants it */
};

/* Compares two runs or more. The inputs must outlive the result, and so must `caps`,
 * under which they were summarized (NULL: none).
 * @ret    to be released, after a failure too
 * @return 0; -EINVAL when some runs have allocations and others samples alone; or
 *         -ENOMEM */
int ml_compare(const struct ml_compare_input *inputs, size_t count,
               const struct ml_level_caps *caps, struct ml_compare *ret, struct ml_error *err);
void ml_compare_release(struct ml_compare *compare);

#endif
