/* band_modules.h: the modules that have their own band, and their memory while events are read.
 * Only the bands include it.
 *
 * The bands are a cut through the tree of modules at the peak of the run: either at a given depth,
 * or the largest module is split repeatedly, as long as nearly all memory still has a band.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_BAND_MODULES_H
#define ML_ANALYZE_BAND_MODULES_H

#include "bands.h"
#include "module_sums.h"
#include "replay.h"

struct ml_band_modules {
    struct ml_snapshot peak;
    struct ml_module_sums sums;
    int error;    /* of ml_band_modules_add */
    size_t count; /* bands with a module; 0 is for blocks without one, the last for the rest */
    uint32_t module[ML_BANDS_MAX];
    bool own_only[ML_BANDS_MAX]; /* without the modules below it, which have their own bands */
    bool has_rest;
    ML_VEC(uint8_t) band_of;      /* by module */
    uint64_t bytes[ML_BANDS_MAX]; /* at present; they add up to the replay's total */
};

/* Finds the modules at the peak of the trace and counts the live blocks of the replay. A zeroed one
 * may be released.
 * @depth   see struct ml_bands_opts
 * @return 0 or negative errno */
int ml_band_modules_init(struct ml_band_modules *m, const struct ml_replay *replay, size_t depth,
                         struct ml_error *err);
void ml_band_modules_release(struct ml_band_modules *m);

/* Call it for each change of the totals, see `on_bytes` of ml_replay. */
void ml_band_modules_add(struct ml_band_modules *m, const struct ml_block *block, uint64_t change);

/* Fills in the names of the bands. @return 0 or -ENOMEM */
int ml_band_modules_name(const struct ml_band_modules *m, struct ml_bands *ret);

#endif
