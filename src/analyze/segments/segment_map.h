/* segment_map.h: what lies where at an instant: the segments that pools, or else the
 * driver, gave out, the live blocks in them, and the holes between.
 *
 * Of each process and device the segments are its pool-level allocations, if it has
 * any, else its driver-level ones that can have blocks inside. A driver allocation of
 * somebody whose blocks are not recorded, a library's, is one block itself. Every byte
 * counts once, whatever overlaps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_SEGMENT_MAP_H
#define ML_ANALYZE_SEGMENT_MAP_H

#include "snapshot.h"
#include "vec.h"

struct ml_segment_block {
    uint64_t offset, bytes; /* in the segment; the part of it that lies there */
    const char *name;       /* its label, or who asked for all of it; "" for none */
    uint8_t category;
};

struct ml_segment {
    uint64_t addr, bytes;
    const char *device;
    const char *space;     /* "cuda memory" */
    const char *blocks_of; /* the space of the blocks in it, "torch"; "" where none is */
    bool foreign;          /* somebody's whose blocks are not recorded */
    uint32_t pid;
    uint64_t live_bytes, slack_bytes;
    double slack_percent;
    uint64_t holes, largest_hole;
    size_t first, count; /* of its blocks */
};

struct ml_segment_map {
    struct ml_snapshot at;
    uint64_t bytes, live_bytes, slack_bytes; /* of all segments, those not listed too */
    uint64_t holes, largest_hole;
    uint64_t stray_bytes;           /* of blocks that lie in no segment */
    size_t segments;                /* of all */
    double slack_percent;           /* what no block has, of all */
    ML_VEC(struct ml_segment) list; /* by device and process, the largest first */
    ML_VEC(struct ml_segment_block) blocks;
};

/* @top    segments to list
 * @ret    to be released, after a failure too
 * @return 0; -ENOENT without segments, and `err` says why; or another negative errno */
int ml_segment_map(const struct ml_trace *trace, const struct ml_snapshot_opts *opts, size_t top,
                   struct ml_segment_map *ret, struct ml_error *err);

/* The same of a table that is frozen already, all segments; none at all is no failure.
 * @ret    its `at` as ml_snapshot filled it in
 * @return 0 or -ENOMEM */
int ml_segment_map_of(const struct ml_replay *replay, struct ml_segment_map *ret);
void ml_segment_map_release(struct ml_segment_map *map);

#endif
