/* instant_totals.h: one instant in a few figures: live memory by device and category, and the peaks
 * up to then.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_INSTANT_TOTALS_H
#define ML_ANALYZE_INSTANT_TOTALS_H

#include "snapshot.h"

struct ml_amount {
    uint64_t bytes, blocks;
};

struct ml_device_totals {
    const char *name;
    struct ml_amount live; /* of the snapshot's blocks */
    struct ml_amount by_category[ML_CATEGORIES];
    uint64_t peak_bytes, peak_time_ns; /* of all blocks of the device, up to the instant */
    uint64_t levels[ML_LEVELS];        /* live bytes at each level: driver, pool, block */
    bool has_level[ML_LEVELS];
};

struct ml_instant_totals {
    struct ml_snapshot at;
    uint64_t peak_bytes, peak_time_ns;       /* of all devices together, up to the instant */
    ML_VEC(struct ml_device_totals) devices; /* that have had memory, the fullest first */
};

/* Reads what ml_snapshot reads.
 * @ret    to be released, after a failure too
 * @return 0 or negative errno, see ml_snapshot */
int ml_instant_totals(const struct ml_trace *trace, const struct ml_snapshot_opts *opts,
                      struct ml_instant_totals *ret, struct ml_error *err);
void ml_instant_totals_release(struct ml_instant_totals *totals);

#endif
