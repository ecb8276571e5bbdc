/* recorded_rank.h: a recording copied as one rank of a larger job, to test `memledger ranks` with
 * more ranks than a machine can start.
 *
 * The copy is a complete trace: the recording's definitions and events with another place, sizes
 * that vary a little from rank to rank and from step to step, and the fault that is planted in it.
 * Stacks are left out. Equal seeds give equal traces.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_RECORDED_RANK_H
#define ML_RECORDED_RANK_H

#include "classes.h"
#include "simulated_rank.h"

/* An open recording, with what all copies need. */
struct recording {
    struct ml_trace *trace;
    struct ml_classes classes;
    uint64_t peak_bytes, events;
};

/* @return 0 or negative errno; close it in both cases */
int recording_open(struct recording *r, const char *path, struct ml_error *err);
void recording_close(struct recording *r);

/* Writes the trace of one rank. Of the job, ranks, noise and seed are used.
 * @fault  any but FAULT_MISSING and FAULT_GATHERED
 * @return 0 or negative errno */
int recorded_rank(const struct recording *r, const struct simulated_job *job, uint32_t rank,
                  enum fault fault, const char *path, struct ml_error *err);

#endif
