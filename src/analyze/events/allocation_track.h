/* allocation_track.h: the lifetimes of allocations while a table of live blocks is fed: what a
 * block's entry in the table lacks is kept beside it.
 *
 *     ml_allocation_track_begin(&track, &replay);
 *     ml_allocation_track_feed(&track, &event);     track.batch has those that the event ended
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_ALLOCATION_TRACK_H
#define ML_ANALYZE_ALLOCATION_TRACK_H

#include "allocations.h"
#include "replay.h"

/* Facts that a block's entry in the live table lacks. */
struct ml_allocation_birth {
    uint64_t addr, time_ns; /* identify the block; parts of blocks have no such entry */
    uint64_t size, requested, ordinal, stream;
    uint32_t phase;
    bool has_stream;
};

/* A block that a thread is resizing ends only if the resize succeeds. */
struct ml_allocation_moving {
    uint32_t thread;
    struct ml_allocation allocation;
};

struct ml_allocation_track {
    struct ml_replay *replay;
    ML_VEC(struct ml_allocation_birth) births; /* by entry of the live table */
    ML_VEC(struct ml_allocation_moving) moving;
    ML_VEC(struct ml_allocation) batch; /* that have ended; the caller clears it */
    struct ml_map phases;               /* process -> string */
    uint64_t born;                      /* so far */
    uint64_t requested;                 /* by the event being fed; 0: unknown */
    uint64_t stream;                    /* of that event, if it has one */
    bool has_stream;
    int failed; /* in a callback */
};

/* Sets the callbacks of the table, which must outlive the track. Blocks that it already has are
 * without an ordinal, and the program's request, stream and phase are unknown. */
void ml_allocation_track_begin(struct ml_allocation_track *track, struct ml_replay *replay);
void ml_allocation_track_release(struct ml_allocation_track *track);

/* Feeds the table. @return 0 or -ENOMEM */
int ml_allocation_track_feed(struct ml_allocation_track *track, const struct ml_event *event);

/* A thread's resize has ended: if it succeeded, the old block has ended. @return 0 or -ENOMEM */
int ml_allocation_track_settle(struct ml_allocation_track *track, uint32_t thread, bool failed);

/* A block of the table, as an allocation that has not ended. */
struct ml_allocation ml_allocation_track_describe(const struct ml_allocation_track *track,
                                                  const struct ml_block *block);

#endif
