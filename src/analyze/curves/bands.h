/* bands.h: live bytes over time, split into a few bands that add up to the total: by
 * category, by device, or by module.
 *
 * For each bucket two moments are kept, the one with the lowest total and the one with the
 * highest, in order of time. The bands of a moment add up to its total exactly, so that the
 * picture neither hides a peak nor invents one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_BANDS_H
#define ML_ANALYZE_BANDS_H

#include "arena.h"
#include "timeline.h"

#define ML_BANDS_MAX 13 /* at least ML_CATEGORIES */

enum ml_bands_by { ML_BANDS_CATEGORY, ML_BANDS_MODULE, ML_BANDS_DEVICE };

struct ml_band {
    const char *name;     /* of a category as in reports; "" for memory without a module */
    bool rest;            /* all others together */
    uint64_t peak_bytes;  /* its own */
    uint64_t share_bytes; /* at the highest total */
};

struct ml_bands_moment {
    uint64_t bytes[ML_BANDS_MAX];
};

struct ml_bands {
    struct ml_arena arena;
    enum ml_bands_by by;
    bool from_scopes; /* the trace has no modules, the bands show its scopes */
    struct ml_timeline total;
    size_t count;
    struct ml_band list[ML_BANDS_MAX];      /* categories in the order of their numbers */
    ML_VEC(struct ml_bands_moment) moments; /* two for each bucket of `total` */
};

/* @ret    to be released, after a failure too
 * @return 0 or negative errno */
int ml_bands(const struct ml_trace *trace, enum ml_bands_by by, const struct ml_timeline_opts *opts,
             struct ml_bands *ret, struct ml_error *err);
void ml_bands_release(struct ml_bands *bands);

#endif
