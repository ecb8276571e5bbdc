/* free_space.h: free memory in the segments of a map, and the largest request that would succeed.
 *
 * The sizes of PyTorch's CUDA allocator are known (torch_packing.h): a hole in a segment for
 * small blocks cannot serve a large one, and the allocator returns empty segments to the driver
 * before it fails. For other allocators a hole serves any request that fits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_FREE_SPACE_H
#define ML_ANALYZE_FREE_SPACE_H

#include "allocator_limit.h"
#include "device_figures.h"
#include "segment_map.h"

#define ML_HOLE_CLASSES 5

/* The upper size limits of the classes of holes; the last class has none. */
extern const uint64_t ml_hole_limits[ML_HOLE_CLASSES - 1];

struct ml_hole_class {
    uint64_t holes, bytes;
};

/* The memory of one process on one device. */
struct ml_free_place {
    const char *device;
    uint32_t pid;
    bool torch;      /* it is PyTorch's CUDA allocator */
    bool expandable; /* its segments are mapped page by page */
    uint64_t segments, bytes, live_bytes;
    uint64_t foreign_bytes;               /* besides: allocations whose blocks are not recorded */
    uint64_t empty_segments, empty_bytes; /* without blocks */
    uint64_t holes, hole_bytes;           /* in segments with blocks */
    uint64_t largest_hole;                /* of these */
    double slack_percent;                 /* of bytes */
    struct ml_hole_class classes[ML_HOLE_CLASSES];
    struct ml_device_figures driver;
    struct ml_allocator_limit limit;  /* of the allocator */
    uint64_t largest_inside;          /* request that a hole or an empty segment can serve */
    struct ml_seen largest_by_driver; /* request that a new segment can serve */
    uint64_t largest_request;         /* the larger of the two, if known */
};

struct ml_free_space {
    ML_VEC(struct ml_free_place) places; /* by device and process; strings are the map's */
};

/* @asks   the space of the request: holes of other pools cannot serve it; NULL: any
 * @ret    to be released, after a failure too
 * @return 0 or -ENOMEM */
int ml_free_space_of(const struct ml_segment_map *map, const char *asks, struct ml_free_space *ret);
void ml_free_space_release(struct ml_free_space *space);

/* Applies the driver's free memory, from `driver`, and the allocator's limit, from `limit`. */
void ml_free_place_settle(struct ml_free_place *place);

/* ---- At an instant ------------------------------------------------------ */

struct ml_fragmentation {
    struct ml_segment_map map; /* its list: most slack first */
    struct ml_free_space free;
};

/* @top    segments to list
 * @ret    to be released, after a failure too
 * @return 0; -ENOENT without segments, and `err` gives the reason; or another negative errno */
int ml_fragmentation(const struct ml_trace *trace, const struct ml_snapshot_opts *opts, size_t top,
                     struct ml_fragmentation *ret, struct ml_error *err);
void ml_fragmentation_release(struct ml_fragmentation *fragmentation);

#endif
