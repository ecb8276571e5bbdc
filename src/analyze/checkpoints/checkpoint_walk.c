/* checkpoint_walk.c: see checkpoint_walk.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "checkpoint_walk.h"

#include "classify.h"

/* The stretch that begins with the checkpoint. */
static void enter(struct ml_checkpoint_walk *w, const struct ml_checkpoint *checkpoint)
{
    const struct ml_checkpoints *c = w->checkpoints;

    w->next = checkpoint + 1 < c->list.items + c->list.len ? checkpoint + 1 : NULL;
    w->next_event = w->next && c->classified ? w->next->at.event : UINT64_MAX;
    w->replay->ordinal = 0;
    w->replay->next_label = 0;
    ml_replay_classify(w->replay, &w->classes);
}

int ml_checkpoint_walk_begin(struct ml_checkpoint_walk *walk,
                             const struct ml_checkpoints *checkpoints,
                             const struct ml_checkpoint *from, struct ml_replay *replay)
{
    int r;

    *walk = (struct ml_checkpoint_walk){
        .checkpoints = checkpoints, .replay = replay, .next_event = UINT64_MAX};
    r = ml_checkpoint_restore(checkpoints, from, replay, &walk->classes);
    if (r == 0)
        enter(walk, from);
    return r;
}

void ml_checkpoint_walk_release(struct ml_checkpoint_walk *walk)
{
    if (walk->replay)
        ml_replay_classify(walk->replay, NULL);
    ml_classes_release(&walk->classes);
}

int ml_checkpoint_walk_turn(struct ml_checkpoint_walk *walk)
{
    int r;

    ml_replay_classify(walk->replay, NULL);
    ml_classes_release(&walk->classes);
    r = ml_checkpoint_classes(walk->checkpoints, walk->next, &walk->classes);
    if (r == 0)
        enter(walk, walk->next);
    return r;
}
