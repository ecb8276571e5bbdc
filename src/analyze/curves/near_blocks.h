/* near_blocks.h: the allocations of a part of a run, read from the checkpoint before it on. Only
 * the lifetimes include it.
 *
 * A checkpoint has the blocks of its moment. It knows neither when they will end nor all that their
 * allocation said. Both are looked up for the few allocations that a report shows: ends between
 * two checkpoints of which the first has the block and the second has not, the rest in the block
 * of the trace that contains the allocation.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_NEAR_BLOCKS_H
#define ML_ANALYZE_NEAR_BLOCKS_H

#include "allocation_track.h"
#include "checkpoint_walk.h"

/* More would take longer than reading the whole trace. */
#define ML_NEAR_COMPLETE_MAX 64

/* @return 0 or negative errno */
typedef int ml_near_block_fn(void *ctx, const struct ml_allocation *allocation);

struct ml_near_blocks {
    const struct ml_trace *trace;
    struct ml_checkpoints checkpoints;
    uint64_t from_ns, to_ns;
    struct ml_replay end;    /* sums at the end of the trace, without blocks */
    struct ml_health health; /* of the whole trace */
};

/* @return 0, -ENOENT if the whole trace must be read, or another negative errno; release in each
 *         case */
int ml_near_blocks_open(struct ml_near_blocks *near, const struct ml_trace *trace, uint64_t from_ns,
                        uint64_t to_ns, struct ml_error *err);
void ml_near_blocks_release(struct ml_near_blocks *near);

/* Calls `take` with each allocation that was live at some moment from from_ns to to_ns, and with
 * some that ended earlier. Those that were live at `to_ns` have not ended.
 * @return as above */
int ml_near_blocks_each(const struct ml_near_blocks *near, ml_near_block_fn *take, void *ctx,
                        struct ml_error *err);

/* Finds the ends of allocations that were live at `to_ns`, and all that is unknown of others.
 * @list   at most ML_NEAR_COMPLETE_MAX; their order changes
 * @return as above */
int ml_near_blocks_complete(const struct ml_near_blocks *near, struct ml_allocation **list,
                            size_t count, struct ml_error *err);

#endif
