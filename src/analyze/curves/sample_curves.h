/* sample_curves.h: samples over time: the memory in use on each GPU, and the host memory of the
 * recorded processes (RSS, all together).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_SAMPLE_CURVES_H
#define ML_ANALYZE_SAMPLE_CURVES_H

#include "arena.h"
#include "timeline.h"

struct ml_sample_curve {
    uint32_t device;  /* string of the trace */
    const char *name; /* the device's */
    bool is_rss;      /* for the host: the memory of processes, not all memory in use */
    bool varies;
    bool is_recorded; /* the trace has spaces on that device */
    struct ml_timeline timeline;
};

struct ml_sample_curves {
    struct ml_arena arena;
    bool sample_only;                    /* the run recorded nothing else */
    ML_VEC(struct ml_sample_curve) list; /* GPUs by name, RSS last */
};

/* @ret    to be released, after a failure too
 * @return 0 or negative errno */
int ml_sample_curves(const struct ml_trace *trace, const struct ml_timeline_opts *opts,
                     struct ml_sample_curves *ret, struct ml_error *err);
void ml_sample_curves_release(struct ml_sample_curves *curves);

#endif
