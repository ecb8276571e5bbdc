/* free_space.h: what is free inside the segments of a map, and the largest request that
 * would succeed.
 *
 * Of PyTorch's CUDA allocator the sizes are known (torch_packing.h): a hole in a segment
 * for small blocks serves no large one, and empty segments go back to the driver before
 * it gives up. Of others a hole serves what fits into it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_FREE_SPACE_H
#define ML_ANALYZE_FREE_SPACE_H

#include "allocator_limit.h"
#include "samples.h"
#include "segment_map.h"

#define ML_HOLE_CLASSES 5

/* Holes below these sizes; the last has the others. */
extern const uint64_t ml_hole_limits[ML_HOLE_CLASSES - 1];

struct ml_hole_class {
    uint64_t holes, bytes;
};

/* What one process has on one device. */
struct ml_free_place {
    const char *device;
    uint32_t pid;
    bool torch;      /* it is PyTorch's CUDA allocator */
    bool expandable; /* its segments are mapped page by page */
    uint64_t segments, bytes, live_bytes;
    uint64_t foreign_bytes; /* beside them: of others, whose blocks are not recorded */
    uint64_t empty_segments, empty_bytes; /* without any block */
    uint64_t holes, hole_bytes;           /* in segments with blocks */
    uint64_t largest_hole;                /* of these */
    double slack_percent;                 /* of bytes */
    struct ml_hole_class classes[ML_HOLE_CLASSES];
    struct ml_device_figures driver;
    struct ml_allocator_limit limit;  /* of its own */
    uint64_t largest_inside;          /* request that a hole or an empty segment serves */
    struct ml_seen largest_by_driver; /* that a new segment would */
    uint64_t largest_request;         /* the larger of the two, of what is known */
};

struct ml_free_space {
    ML_VEC(struct ml_free_place) places; /* by device and process; strings are the map's */
};

/* @asks   the space whose request is meant: holes of other pools do not serve it; NULL: any
 * @ret    to be released, after a failure too
 * @return 0 or -ENOMEM */
int ml_free_space_of(const struct ml_segment_map *map, const char *asks, struct ml_free_space *ret);
void ml_free_space_release(struct ml_free_space *space);

/* Works in what the driver has left, from `driver`, and may give, from `limit`. */
void ml_free_place_settle(struct ml_free_place *place);

/* ---- The whole of it, at an instant ------------------------------------- */

struct ml_fragmentation {
    struct ml_segment_map map; /* its list: those with most slack first */
    struct ml_free_space free;
};

/* @top    segments to list
 * @ret    to be released, after a failure too
 * @return 0; -ENOENT without segments, and `err` says why; or another negative errno */
int ml_fragmentation(const struct ml_trace *trace, const struct ml_snapshot_opts *opts, size_t top,
                     struct ml_fragmentation *ret, struct ml_error *err);
void ml_fragmentation_release(struct ml_fragmentation *fragmentation);

#endif
