/* process_steps.h: the steps of each process that marks some, with the memory of that process
 * alone.
 *
 * If one process marks steps, such as a training with workers that load data, the figures cover
 * all processes. If several do, such as the ranks of a job, they take steps of their own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_PROCESS_STEPS_H
#define ML_ANALYZE_PROCESS_STEPS_H

#include "level_caps.h"
#include "summary.h"

struct ml_process_steps_opts {
    struct ml_level_caps caps; /* with only_pid: this process, by its own steps if it marks some */
    bool has_rank;
    uint32_t rank; /* only this one */
};

struct ml_process_steps {
    ML_VEC(struct ml_summary) list; /* at least one; by rank, then by start */
};

/* Reads the trace twice, and twice more for each process if several mark steps.
 * @ret    to be released, after a failure too
 * @return 0; -ENOENT if no process of the rank marks steps; or another negative errno */
int ml_process_steps(const struct ml_trace *trace, const struct ml_process_steps_opts *opts,
                     struct ml_process_steps *ret, struct ml_error *err);
void ml_process_steps_release(struct ml_process_steps *steps);

/* Whose steps these are. @return NULL: nobody's, there are none */
const struct ml_summary_process *ml_steps_process(const struct ml_summary *summary);

#endif
