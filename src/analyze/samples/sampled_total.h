/* sampled_total.h: what the samples say the recorded processes had: the total that a
 * list of blocks can be held against.
 *
 * On the GPUs what the driver says each process has, else what is in use on the device;
 * on the host, where no GPU was sampled or the host is asked for, resident memory.
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
    uint32_t pid;        /* what is said of this process alone; 0: of all */
    bool at_peak;        /* the most there was, else at: */
    uint64_t time_ns;    /* the last sample up to here */
    bool processes_only; /* not what is in use on the device */
};

/* @return 0, -ENODATA without such samples and the reason in `err`, or another negative
 *         errno */
int ml_sampled_total(const struct ml_trace *trace, const struct ml_sampled_total_opts *opts,
                     uint64_t *ret, struct ml_error *err);

#endif
