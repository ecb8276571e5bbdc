/* curve_baseline.c: see curve_baseline.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "curve_baseline.h"

uint64_t ml_timeline_lowest(const struct ml_timeline *timeline, size_t count)
{
    uint64_t lowest = timeline->begin_bytes;

    for (size_t i = ml_timeline_first_bucket(timeline, count); i < timeline->buckets.len; i++)
        lowest = ml_min_u64(lowest, timeline->buckets.items[i].min_bytes);
    return lowest;
}

uint64_t ml_baseline_of(const struct ml_baseline *baseline, const struct ml_timeline *timeline,
                        size_t count)
{
    switch (baseline->kind) {
    case ML_BASELINE_FIRST: return timeline->begin_bytes;
    case ML_BASELINE_MIN: return ml_timeline_lowest(timeline, count);
    case ML_BASELINE_SIZE: return baseline->size_bytes;
    default: return 0;
    }
}
