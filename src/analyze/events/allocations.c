/* allocations.c: see allocations.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "allocations.h"

#include <errno.h>
#include <stdlib.h>

#include "allocation_track.h"
#include "classify.h"

#define LEFT_AT_ONCE 4096 /* never-freed blocks in one batch */

struct ml_allocations {
    struct ml_classes classes;
    struct ml_replay replay;
    struct ml_cursor *cursor;
    struct ml_allocation_track track;
    bool at_end;
    size_t next_left; /* entry of the live table, at the end */
};

/* At the end of the trace: adds blocks that are still live or being resized. */
static int take_left(struct ml_allocations *a)
{
    for (size_t i = 0; a->next_left == 0 && i < a->track.moving.len; i++)
        if (ml_vec_push(&a->track.batch, a->track.moving.items[i].allocation) < 0)
            return -ENOMEM;
    while (a->next_left < a->replay.blocks.len && a->track.batch.len < LEFT_AT_ONCE) {
        const struct ml_block *block = &a->replay.blocks.items[a->next_left++];

        if (block->live &&
            ml_vec_push(&a->track.batch, ml_allocation_track_describe(&a->track, block)) < 0)
            return -ENOMEM;
    }
    return 0;
}

static int read_some(struct ml_allocations *a, struct ml_error *err)
{
    const struct ml_event *events;
    int n = a->at_end ? 0 : ml_cursor_next(a->cursor, &events, err), r = 0;

    if (n < 0)
        return n;
    a->at_end = n == 0;
    for (int i = 0; r == 0 && i < n; i++)
        r = ml_allocation_track_feed(&a->track, &events[i]);
    if (a->at_end)
        r = take_left(a);
    return r < 0 ? ml_error_set(err, r, "not enough memory for the live blocks of the trace") : 0;
}

int ml_allocations_next(struct ml_allocations *a, const struct ml_allocation **ret,
                        struct ml_error *err)
{
    int r = 0;

    ml_vec_clear(&a->track.batch);
    while (r == 0 && a->track.batch.len == 0 &&
           !(a->at_end && a->next_left >= a->replay.blocks.len))
        r = read_some(a, err);
    *ret = a->track.batch.items;
    return r < 0 ? r : (int)a->track.batch.len;
}

struct ml_health ml_allocations_health(const struct ml_allocations *a)
{
    return ml_health_of(&a->replay);
}

int ml_allocations_open(const struct ml_trace *trace, struct ml_allocations **ret,
                        struct ml_error *err)
{
    struct ml_allocations *a = calloc(1, sizeof(*a));
    int r = a ? ml_replay_init(&a->replay, trace) : -ENOMEM;

    if (r < 0)
        ml_error_set(err, r, "not enough memory to read allocations");
    else
        r = ml_classify(trace, &a->classes, err);
    if (r == 0)
        r = ml_cursor_open(trace, 0, UINT64_MAX, &a->cursor, err);
    if (r < 0) {
        ml_allocations_free(a);
        return r;
    }
    ml_replay_classify(&a->replay, &a->classes);
    ml_allocation_track_begin(&a->track, &a->replay);
    *ret = a;
    return 0;
}

void ml_allocations_free(struct ml_allocations *a)
{
    if (!a)
        return;
    ml_cursor_free(a->cursor);
    ml_replay_release(&a->replay);
    ml_classes_release(&a->classes);
    ml_allocation_track_release(&a->track);
    free(a);
}
