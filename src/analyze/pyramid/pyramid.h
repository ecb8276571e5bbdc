/* pyramid.h: live bytes over time at any zoom, without reading events.
 *
 * A level of the pyramid divides the run into columns of equal length, 1 at level 0 and twice as
 * many at each further level. Of each column it has two moments, the one with the lowest total and
 * the one with the highest, in order of time, each split into bands of several sorts (see bands.h).
 * A level is the same as what ml_bands_of_columns finds with as many columns: no peak is hidden,
 * and none is invented.
 *
 * The last level has several hundred events in a column: a closer look needs a short replay.
 * Every third level is stored, in tiles of ML_PYRAMID_TILE columns; the others are made of the next
 * stored one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_PYRAMID_H
#define ML_ANALYZE_PYRAMID_H

#include "bands.h"

#define ML_PYRAMID_TILE 1024
#define ML_PYRAMID_PAGE 512     /* moments */
#define ML_PYRAMID_PAGES_MAX 32 /* a reader keeps those that it has read */
#define ML_PYRAMID_LEVELS 21    /* at most */
#define ML_PYRAMID_STRIDE 3     /* from a stored level to the next */

/* The bands of one sort. */
struct ml_pyramid_bands {
    size_t count;
    struct ml_band list[ML_BANDS_MAX]; /* names and `rest` only */
};

struct ml_pyramid {
    const struct ml_trace *file;
    uint64_t span_ns;    /* of each level: from 0 to the end of the run */
    unsigned last_level; /* the others that are stored are multiples of the stride before it */
    bool from_scopes;    /* the trace has no modules, the bands show its scopes */
    struct ml_arena arena;
    struct ml_pyramid_bands by[ML_BANDS_BY_COUNT];
    ML_VEC(uint64_t) tiles[ML_PYRAMID_LEVELS]; /* by level: the blocks of the file */
    ML_VEC(uint64_t) pages; /* the same: of moments that tiles refer to, see moment_pages.h */
};

/* Opens the pyramid of a device in a file that ml_pyramids_make has written.
 * @file    must outlive it
 * @device  in the form of ml_device_is; NULL: of all devices together
 * @ret     to be released, after a failure too
 * @return 0, -ENOENT if the file has none, -EBADMSG, or another negative errno */
int ml_pyramid_open(const struct ml_trace *file, const char *device, struct ml_pyramid *ret);
void ml_pyramid_release(struct ml_pyramid *pyramid);

/* Whether a level is in the file. */
static inline bool ml_pyramid_is_stored(unsigned last_level, unsigned level)
{
    return level <= last_level && (last_level - level) % ML_PYRAMID_STRIDE == 0;
}

/* The bands of columns that are those of a level.
 * @trace  the trace that the pyramid belongs to
 * @ret    without health; to be released, after a failure too
 * @return 0, -ENOENT if the columns are finer than the last level, or not of a level, -EBADMSG, or
 *         another negative errno */
int ml_pyramid_bands(const struct ml_pyramid *pyramid, const struct ml_trace *trace,
                     enum ml_bands_by by, const struct ml_columns *columns, struct ml_bands *ret);

#endif
