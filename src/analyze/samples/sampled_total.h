/* sampled_total.h: the memory of the recorded processes according to the samples: a total to
 * compare a list of blocks with.
 *
 * On GPUs it is the driver's figure for each process, or else the memory in use on the device. On
 * the host, when no GPU was sampled or the caller asks for the host, it is resident memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_SAMPLED_TOTAL_H
#define ML_ANALYZE_SAMPLED_TOTAL_H

#include <stdbool.h>
#include <stdint.h>

#include "trace.h"

struct ml_sampled_total_opts {
    const char *device;  /* NULL: all GPUs together */
    uint32_t pid;        /* figures of this process alone; 0: all */
    bool at_peak;        /* the peak, else at: */
    uint64_t time_ns;    /* the last sample up to here */
    bool processes_only; /* ignore the memory in use on the device */
};

/* @return 0, -ENODATA without such samples and the reason in `err`, or another negative
 *         errno */
int ml_sampled_total(const struct ml_trace *trace, const struct ml_sampled_total_opts *opts,
                     uint64_t *ret, struct ml_error *err);

#endif
