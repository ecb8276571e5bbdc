/* checkpoint_walk.h: a replay from a checkpoint or an outline on, past any number of others.
 *
 * The categories of blocks are stored from checkpoint to checkpoint. A walk gives the replay those
 * of the stretch that it is in. From outline to outline, it gives the replay the blocks that events
 * free.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_CHECKPOINT_WALK_H
#define ML_ANALYZE_CHECKPOINT_WALK_H

#include "checkpoints.h"
#include "outline.h"

struct ml_checkpoint_walk {
    const struct ml_checkpoints *checkpoints;
    struct ml_replay *replay;
    struct ml_classes classes;        /* of the stretch */
    const struct ml_checkpoint *next; /* where the next stretch begins; NULL: this is the last */
    uint64_t next_event;              /* the same; UINT64_MAX: none. From an outline on: after
                                         how many events the replay needs something */
    const struct ml_outline *outline; /* of the stretch; NULL: the walk began at a checkpoint */
    struct ml_outline_frees frees;
};

/* Restores a checkpoint into a new replay without caps. Both must outlive the walk.
 * @walk   to be released before the replay, after a failure too
 * @return as ml_checkpoint_restore */
int ml_checkpoint_walk_begin(struct ml_checkpoint_walk *walk,
                             const struct ml_checkpoints *checkpoints,
                             const struct ml_checkpoint *from, struct ml_replay *replay);

/* The same from an outline on: the replay has groups instead of single blocks. */
int ml_checkpoint_walk_begin_outlined(struct ml_checkpoint_walk *walk,
                                      const struct ml_checkpoints *checkpoints,
                                      const struct ml_outline *from, struct ml_replay *replay);
void ml_checkpoint_walk_release(struct ml_checkpoint_walk *walk);

/* Out of line: enters the next stretch, or puts back the block that the event frees.
 * @return as ml_checkpoint_restore */
int ml_checkpoint_walk_turn(struct ml_checkpoint_walk *walk, const struct ml_event *event);

/* Call it before the replay gets an event. @return as above */
static inline int ml_checkpoint_walk_on(struct ml_checkpoint_walk *walk,
                                        const struct ml_event *event)
{
    return walk->replay->events == walk->next_event ? ml_checkpoint_walk_turn(walk, event) : 0;
}

/* Reads on up to an event. @return 0, -EBADMSG, or another negative errno */
int ml_checkpoint_walk_to(struct ml_checkpoint_walk *walk, uint64_t event, struct ml_error *err);

#endif
