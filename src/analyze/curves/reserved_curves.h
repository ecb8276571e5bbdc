/* reserved_curves.h: the memory that pools hold over time, on each device: the segments that they
 * report, else those that PyTorch takes from the driver. Blocks use a part of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_RESERVED_CURVES_H
#define ML_ANALYZE_RESERVED_CURVES_H

#include "arena.h"
#include "timeline.h"

struct ml_reserved_curve {
    const char *device;
    struct ml_timeline timeline;
};

struct ml_reserved_curves {
    struct ml_arena arena;
    ML_VEC(struct ml_reserved_curve) list; /* devices whose pools had memory */
};

/* Reads copies of the events of segments if the trace has some, else the trace, unless it has none.
 * @ret    to be released, after a failure too
 * @return 0 or negative errno */
int ml_reserved_curves(const struct ml_trace *trace, const struct ml_timeline_opts *opts,
                       struct ml_reserved_curves *ret, struct ml_error *err);
void ml_reserved_curves_release(struct ml_reserved_curves *curves);

#endif
