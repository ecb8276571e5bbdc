/* compare.h: compares several runs with the first.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_COMPARE_H
#define ML_ANALYZE_COMPARE_H

#include "level_caps.h"
#include "summary.h"

/* A value of a run and its change from the first run. */
struct ml_change {
    uint64_t value;
    int64_t difference; /* value - the first run's */
    double percent;     /* of the first run's; 0 if equal, infinite if that is 0 */
};

struct ml_compare_run {
    const char *name;
    const char *file;
    size_t given; /* index among the given runs; 0 is the first run */
    struct ml_change peak, live, allocations, duration;
    uint64_t left_bytes; /* never freed, without the driver's own */
    uint64_t peak_time_ns;
    const struct ml_health *health; /* in the summary of the run */
};

/* One category, and its bytes at the peak of each run. */
struct ml_compare_category {
    const char *name;
    struct ml_change *at_peak; /* one per run, in the order of `runs` */
    uint64_t largest_change;   /* among the runs, absolute */
};

/* A sampled peak: memory in use on a GPU, or the RSS of the largest process. */
struct ml_compare_sampled {
    const char *name;
    struct ml_change *peak; /* one per run, in the order of `runs` */
    bool *known;            /* likewise: whether the run has such samples */
};

/* A device that a run used, and its own peak in each run. */
struct ml_compare_device {
    const char *name;
    struct ml_change *peak;     /* one per run, in the order of `runs` */
    const uint64_t *left_bytes; /* likewise: never freed, without the driver's own */
};

/* A device that is counted at a lower level than for a run alone. */
struct ml_compare_level {
    const char *device;
    const char *level;
};

struct ml_compare {
    struct ml_arena arena;
    ML_VEC(struct ml_compare_run) runs; /* the first, then by increase of the peak, largest first */
    ML_VEC(struct ml_compare_category) categories; /* largest change first */
    ML_VEC(struct ml_compare_device) devices;      /* where there are several */
    ML_VEC(struct ml_compare_level) levels;
    bool by_samples;                           /* no run has allocations: samples are compared */
    ML_VEC(struct ml_compare_sampled) sampled; /* if by_samples; GPUs first */
    /* Of a peak, also of each device if there are several; negative if all are smaller. */
    double worst_increase_percent;
};

struct ml_compare_input {
    const char *name, *file;
    const struct ml_summary *summary;
    const struct ml_trace *trace; /* of the summary; only compare_view.h needs it */
};

/* Compares two or more runs. The inputs must outlive the result, and so must `caps`, with which
 * they were summarized (NULL: none).
 * @ret    to be released, after a failure too
 * @return 0; -EINVAL if some runs have allocations and others only samples; or -ENOMEM */
int ml_compare(const struct ml_compare_input *inputs, size_t count,
               const struct ml_level_caps *caps, struct ml_compare *ret, struct ml_error *err);
void ml_compare_release(struct ml_compare *compare);

#endif
