/* run_limits.h: whether a run kept within limits, so that a test can fail if it did not: the peak
 * of each device, its growth from step to step, and the bytes never freed.
 *
 * Each device is checked on its own: no machine has a memory of the size of host and GPU together.
 * A recording that lost events cannot show that a limit was kept, and fails the check. Neither can
 * one that dropped its beginning (--keep), or was paused, show that about the peak; nor one without
 * its end, about the peak and the bytes never freed. Bytes that are live at an end which is not the
 * program's exceed no limit: the program may free them later.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_RUN_LIMITS_H
#define ML_ANALYZE_RUN_LIMITS_H

#include "arena.h"
#include "health.h"
#include "trace.h"
#include "vec.h"

#define ML_NO_LIMIT UINT64_MAX

struct ml_limits_opts {
    const char *device;        /* only this one; NULL: each that has memory */
    uint64_t max_peak_bytes;   /* ML_NO_LIMIT: not checked; the next two as well */
    uint64_t max_growth_bytes; /* per step, after the warm-up steps of leaks.h */
    uint64_t max_left_bytes;   /* never freed */
};

enum ml_limit_kind {
    ML_LIMIT_PEAK,
    ML_LIMIT_GROWTH,
    ML_LIMIT_LEFT,
    ML_LIMIT_LOST,
    ML_LIMIT_DROPPED,
    ML_LIMIT_PAUSES,
    ML_LIMIT_UNFINISHED,
};

struct ml_limit_check {
    enum ml_limit_kind kind;
    const char *device; /* NULL for the last four kinds, which count */
    uint64_t measured, allowed;
    bool kept;
    uint64_t time_ns; /* of the peak */
    uint64_t steps;   /* that the growth was measured over */
    uint32_t pid; /* of several processes that mark steps, the one that grows most; 0: one does */
};

struct ml_limits {
    struct ml_arena arena;
    struct ml_health health;
    ML_VEC(struct ml_limit_check) checks;
    size_t exceeded; /* how many were not kept */
};

/* @ret    to be released, after a failure too
 * @return 0, also if limits were exceeded; -ENODEV without such a device, or without any; -ENOENT
 * if growth is asked for and the run has no steps to measure; -ENODATA if more than allowed is
 * live at an end that is not the program's; or another negative errno */
int ml_limits(const struct ml_trace *trace, const struct ml_limits_opts *opts,
              struct ml_limits *ret, struct ml_error *err);
void ml_limits_release(struct ml_limits *limits);

#endif
