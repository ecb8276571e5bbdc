/* reach.h: which blocks that a process never freed it could still reach as it ended, found in the
 * copies that processes leave, and stored in the trace.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REACH_H
#define ML_REACH_H

#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "ring.h"

struct ml_reach_opts {
    const struct ml_session_copy *copies; /* written by the processes themselves: not trusted */
    size_t copy_count;
    uint64_t start_ns;    /* CLOCK_MONOTONIC at time 0 of the trace */
    uint64_t deadline_ns; /* CLOCK_MONOTONIC; the search of a process ends then */
};

/* Precondition: the copies still run.
 * @path   a finished trace of all blocks of malloc
 * @return 0, also if some or all copies could not be searched, which the trace says; or negative
 *         errno, and the trace is as it was */
int ml_reach(const char *path, const struct ml_reach_opts *opts, struct ml_error *err);

#endif
