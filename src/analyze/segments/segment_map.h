/* segment_map.h: the layout of memory at an instant: the segments from pools, or else from the
 * driver, the live blocks in them, and the holes between.
 *
 * For each process and device the segments are its pool-level allocations, if it has any, else
 * its driver-level ones that can contain blocks. A driver allocation by a library whose blocks
 * are not recorded counts as one block. Every byte counts once, even if blocks overlap.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_SEGMENT_MAP_H
#define ML_ANALYZE_SEGMENT_MAP_H

#include "snapshot.h"
#include "vec.h"

struct ml_segment_block {
    uint64_t offset, bytes; /* in the segment; only the part inside it */
    const char *name;       /* its label, or the owner of the whole segment; "" for none */
    uint8_t category;
};

struct ml_segment {
    uint64_t addr, bytes;
    const char *device;
    const char *space;     /* "cuda memory" */
    const char *blocks_of; /* the space of the blocks in it, "torch"; "" for none */
    bool foreign;          /* its blocks are not recorded */
    uint32_t pid;
    uint64_t live_bytes, slack_bytes;
    double slack_percent;
    uint64_t holes, largest_hole;
    size_t first, count; /* of its blocks */
};

struct ml_segment_map {
    struct ml_snapshot at;
    uint64_t bytes, live_bytes, slack_bytes; /* of all segments, listed or not */
    uint64_t holes, largest_hole;
    uint64_t stray_bytes;           /* of blocks outside all segments */
    size_t segments;                /* the number of all */
    double slack_percent;           /* of all bytes */
    ML_VEC(struct ml_segment) list; /* by device and process, largest first */
    ML_VEC(struct ml_segment_block) blocks;
};

/* @top    segments to list
 * @ret    to be released, after a failure too
 * @return 0; -ENOENT without segments, and `err` gives the reason; or another negative errno */
int ml_segment_map(const struct ml_trace *trace, const struct ml_snapshot_opts *opts, size_t top,
                   struct ml_segment_map *ret, struct ml_error *err);

/* The same for a table that is already frozen, all segments; an empty result is not a failure.
 * @ret    its `at` filled in by ml_snapshot
 * @return 0 or -ENOMEM */
int ml_segment_map_of(const struct ml_replay *replay, struct ml_segment_map *ret);
void ml_segment_map_release(struct ml_segment_map *map);

#endif
