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

/* ---- From an outline on -------------------------------------------------------- */

static const struct ml_outline *next_outline(const struct ml_checkpoint_walk *w)
{
    const struct ml_checkpoints *c = w->checkpoints;

    return w->outline + 1 < c->outlines.items + c->outlines.len ? w->outline + 1 : NULL;
}

/* The next free, the end of the stretch, or the event that ends what is known. */
static void find_next(struct ml_checkpoint_walk *w)
{
    const struct ml_outline *next = next_outline(w);
    uint64_t end = next ? next->at.event : UINT64_MAX;

    if (w->outline->until < w->checkpoints->last.event)
        end = ml_min_u64(end, w->outline->until);
    w->next_event = ml_min_u64(end, w->frees.next_event - 1);
}

int ml_checkpoint_walk_begin_outlined(struct ml_checkpoint_walk *walk,
                                      const struct ml_checkpoints *checkpoints,
                                      const struct ml_outline *from, struct ml_replay *replay)
{
    int r;

    *walk = (struct ml_checkpoint_walk){
        .checkpoints = checkpoints, .replay = replay, .outline = from, .next_event = UINT64_MAX};
    r = ml_outline_restore(checkpoints, from, replay, &walk->frees);
    if (r == 0)
        find_next(walk);
    return r;
}

static int turn_outlined(struct ml_checkpoint_walk *w, const struct ml_event *event)
{
    const struct ml_outline *next = next_outline(w);
    int r = 0;

    if (next && w->replay->events == next->at.event) {
        ml_outline_frees_release(&w->frees);
        w->outline = next;
        r = ml_outline_go_on(w->checkpoints, next, w->replay, &w->frees);
    }
    if (r == 0 && w->replay->events >= w->outline->until)
        r = -EBADMSG; /* the callers begin elsewhere */
    if (r == 0 && w->replay->events + 1 == w->frees.next_event)
        r = ml_outline_put_back(&w->frees, w->replay, event);
    find_next(w);
    return r;
}

/* ---- Interface -------------------------------------------------------------------- */

void ml_checkpoint_walk_release(struct ml_checkpoint_walk *walk)
{
    if (walk->replay)
        ml_replay_classify(walk->replay, NULL);
    ml_classes_release(&walk->classes);
    ml_outline_frees_release(&walk->frees);
}

int ml_checkpoint_walk_turn(struct ml_checkpoint_walk *walk, const struct ml_event *event)
{
    int r;

    if (walk->outline)
        return turn_outlined(walk, event);
    ml_replay_classify(walk->replay, NULL);
    ml_classes_release(&walk->classes);
    r = ml_checkpoint_classes(walk->checkpoints, walk->next, &walk->classes);
    if (r == 0)
        enter(walk, walk->next);
    return r;
}

static int feed(struct ml_checkpoint_walk *w, const struct ml_event *events, size_t count)
{
    int r = 0;

    while (r == 0 && count > 0) {
        size_t fed = (size_t)ml_min_u64(count, w->next_event - w->replay->events);

        r = ml_replay_feed_all(w->replay, events, fed);
        events += fed;
        count -= fed;
        if (r == 0 && count > 0)
            r = ml_checkpoint_walk_on(w, events);
        if (r == 0 && count > 0) {
            r = ml_replay_feed(w->replay, events++);
            count--;
        }
    }
    return r;
}

int ml_checkpoint_walk_to(struct ml_checkpoint_walk *walk, uint64_t event, struct ml_error *err)
{
    const struct ml_event *events;
    struct ml_cursor *cursor = NULL;
    int n = 1, r = ml_cursor_open(walk->replay->trace, 0, UINT64_MAX, &cursor, err);

    if (r == 0)
        ml_cursor_skip(cursor, walk->replay->events);
    while (r == 0 && n > 0 && walk->replay->events < event) {
        n = ml_cursor_next(cursor, &events, err);
        if (n > 0)
            r = feed(walk, events, (size_t)ml_min_u64((uint64_t)n, event - walk->replay->events));
    }
    ml_cursor_free(cursor);
    ml_replay_settle(walk->replay);
    return r < 0 || n > 0 ? r : n;
}
