/* phase_peaks.h: the peak of live memory in each phase of a run, over all its steps.
 *
 * A phase lasts from its mark to the next. The time between phases is a phase too, without a
 * name. If several processes mark phases, those of the first one count.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_PHASE_PEAKS_H
#define ML_ANALYZE_PHASE_PEAKS_H

#include "level_caps.h"
#include "trace.h"
#include "vec.h"

struct ml_phase_peak {
    uint32_t phase; /* string, 0: between phases */
    uint64_t peak_bytes;
};

struct ml_phase_peaks {
    ML_VEC(struct ml_phase_peak) list; /* in the order of their first mark; empty: no marks */
};

/* Reads the trace once.
 * @caps   may be NULL
 * @ret    to be released, after a failure too
 * @return 0 or negative errno */
int ml_phase_peaks(const struct ml_trace *trace, const struct ml_level_caps *caps,
                   struct ml_phase_peaks *ret, struct ml_error *err);
void ml_phase_peaks_release(struct ml_phase_peaks *peaks);

#endif
