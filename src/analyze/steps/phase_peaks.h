/* phase_peaks.h: the most that was live in each phase of a run, in all its steps.
 *
 * A phase lasts from its mark to the next; what lies between phases is one too, without
 * a name. Where several processes mark phases, those of the one that marked first count.
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
    ML_VEC(struct ml_phase_peak) list; /* in order of their first mark; empty: no marks */
};

/* Reads the trace once.
 * @caps   may be NULL
 * @ret    to be released, after a failure too
 * @return 0 or negative errno */
int ml_phase_peaks(const struct ml_trace *trace, const struct ml_level_caps *caps,
                   struct ml_phase_peaks *ret, struct ml_error *err);
void ml_phase_peaks_release(struct ml_phase_peaks *peaks);

#endif
