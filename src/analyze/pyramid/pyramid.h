/* pyramid.h: live bytes over time at any zoom, without reading the trace.
 *
 * A level of the pyramid divides the run into columns of equal length, 1 at level 0 and twice as
 * many at each further level. Of each column it has two moments, the one with the lowest total and
 * the one with the highest, in order of time, each split into bands (see bands.h). A level is the
 * same as what ml_bands finds with as many buckets: no peak is hidden, and none is invented. The
 * exception are labels of a trace without modules and phases, which may come after the end of a
 * column: the block is then in the band of its label one column later.
 *
 * A level is stored in tiles of ML_PYRAMID_TILE columns, so that a reader can take a part of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_PYRAMID_H
#define ML_ANALYZE_PYRAMID_H

#include "bands.h"

#define ML_PYRAMID_TILE 1024
#define ML_PYRAMID_LEVELS 17 /* 65,536 columns at the last */

struct ml_pyramid {
    const struct ml_trace *file;
    enum ml_bands_by by;
    bool from_scopes; /* the trace has no modules, the bands show its scopes */
    uint64_t span_ns; /* of each level: from 0 to the end of the run */
    uint64_t peak_bytes, peak_time_ns;
    size_t count; /* bands */
    struct ml_band list[ML_BANDS_MAX];
    struct ml_arena arena;                  /* the names of the bands */
    uint64_t first_tile[ML_PYRAMID_LEVELS]; /* the block of the file where a level begins */
};

/* Opens the pyramid in a file that ml_pyramid_make has written.
 * @file   must outlive it
 * @ret    to be released, after a failure too
 * @return 0, -ENOENT if the file has none, -EBADMSG, or another negative errno */
int ml_pyramid_open(const struct ml_trace *file, struct ml_pyramid *ret);
void ml_pyramid_release(struct ml_pyramid *pyramid);

/* The columns of a level. */
static inline size_t ml_pyramid_columns(unsigned level)
{
    return (size_t)1 << level;
}

/* The first level that has at least `columns` columns in a window of that length; the last level
 * if none has. */
unsigned ml_pyramid_level(const struct ml_pyramid *pyramid, uint64_t window_ns, size_t columns);

/* The column of a level that contains a time, and the first nanosecond of a column. */
size_t ml_pyramid_column_at(const struct ml_pyramid *pyramid, unsigned level, uint64_t time_ns);
uint64_t ml_pyramid_time_ns(const struct ml_pyramid *pyramid, unsigned level, size_t column);

/* Reads one tile: two moments for each of its columns, which begin at tile * ML_PYRAMID_TILE.
 * @ret    room for 2 * ML_PYRAMID_TILE
 * @return the number of columns, or negative errno: -EINVAL if there is no such tile, -EBADMSG */
int ml_pyramid_read(const struct ml_pyramid *pyramid, unsigned level, size_t tile,
                    struct ml_bands_moment *ret);

#endif
