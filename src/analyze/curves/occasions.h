/* occasions.h: what a timeline shows on its axis: steps, epochs, phases, the program's markers, and
 * allocations that were refused; and pauses of the recording.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_OCCASIONS_H
#define ML_ANALYZE_OCCASIONS_H

#include "trace.h"
#include "vec.h"

enum ml_occasion_kind {
    ML_OCCASION_STEP,
    ML_OCCASION_EPOCH,
    ML_OCCASION_PHASE,
    ML_OCCASION_MARKER,
    ML_OCCASION_OOM,
};

struct ml_occasion {
    enum ml_occasion_kind kind;
    uint32_t name; /* string of the trace, of a phase or a marker */
    uint64_t time_ns;
    uint64_t number; /* of a step or an epoch; the bytes of a refused request */
};

/* The recording was paused. */
struct ml_pause {
    uint64_t from_ns, to_ns;
};

struct ml_occasions {
    ML_VEC(struct ml_occasion) list; /* by time */
    uint64_t left_out;               /* beyond the limit, the last ones */
    ML_VEC(struct ml_pause) pauses;  /* by time, cut off at the ends of that time */
};

/* Those of a time, including its end. Of pauses, those that begin or end in it.
 * @ret    to be released, after a failure too
 * @return 0 or negative errno */
int ml_occasions(const struct ml_trace *trace, uint64_t from_ns, uint64_t to_ns, size_t limit,
                 struct ml_occasions *ret, struct ml_error *err);
void ml_occasions_release(struct ml_occasions *occasions);

const char *ml_occasion_kind_name(enum ml_occasion_kind kind);

#endif
