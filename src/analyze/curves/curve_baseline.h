/* curve_baseline.h: the bytes that are subtracted from a curve, so that it shows what a program
 * added to the memory that was in use before.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_CURVE_BASELINE_H
#define ML_ANALYZE_CURVE_BASELINE_H

#include "timeline.h"

enum ml_baseline_kind {
    ML_BASELINE_NONE,
    ML_BASELINE_FIRST, /* the first value of each curve */
    ML_BASELINE_MIN,   /* its lowest */
    ML_BASELINE_SIZE,  /* a fixed size */
};

struct ml_baseline {
    enum ml_baseline_kind kind;
    uint64_t size_bytes; /* of ML_BASELINE_SIZE */
};

/* The first and the lowest value are those of the part shown.
 * @count  buckets over the timeline's span */
uint64_t ml_baseline_of(const struct ml_baseline *baseline, const struct ml_timeline *timeline,
                        size_t count);

/* The lowest value of the part shown. */
uint64_t ml_timeline_lowest(const struct ml_timeline *timeline, size_t count);

#endif
