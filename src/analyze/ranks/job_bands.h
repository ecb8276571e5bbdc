/* job_bands.h: live bytes of several traces over one time, a band for each rank of a job.
 *
 * Time 0 is the start of the first trace, and the others begin as much later as their wall clocks
 * say. The memory of a rank is that of all its processes: on its GPUs if its trace has memory on
 * any, else on the host. A trace without ranks is one band.
 *
 * Each column has two moments. In the first every rank has its lowest value of the column, in the
 * second its highest: clocks of several machines cannot tell which of two values in a column came
 * first. So the second is the most that the ranks can have had together. Columns of a trace that
 * touch two of the picture count for both, which are half as wide or less.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_JOB_BANDS_H
#define ML_ANALYZE_JOB_BANDS_H

#include "bands.h"

struct ml_job_opts {
    const char *device;       /* counts only this one; NULL: GPUs if there are any, else the host */
    uint64_t from_ns, to_ns;  /* of the job; UINT64_MAX: its end */
    size_t columns;           /* at least 1 */
    const char *const *names; /* of the traces, for those without ranks */
};

/* Where a trace is on the axis. */
struct ml_job_trace {
    uint64_t start_ns, end_ns;
    struct ml_health health;
};

struct ml_job_bands {
    struct ml_bands bands; /* by ML_BANDS_RANK, by number; no buckets */
    uint64_t start_wall_ns, end_ns;
    ML_VEC(struct ml_job_trace) traces;
    size_t first_trace; /* of the first band */
};

/* @traces  all with times, or none
 * @ret     to be released, after a failure too
 * @return 0 or negative errno */
int ml_job_bands(const struct ml_trace *const *traces, size_t count, const struct ml_job_opts *opts,
                 struct ml_job_bands *ret, struct ml_error *err);
void ml_job_bands_release(struct ml_job_bands *job);

#endif
