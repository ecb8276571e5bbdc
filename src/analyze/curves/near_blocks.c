/* near_blocks.c: see near_blocks.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "near_blocks.h"

#include <errno.h>

#include "classify.h"
#include "landmarks.h"
#include "memledger/memledger.h"
#include "replay_state.h"

/* ---- Whether it can be done ------------------------------------------------- */

/* Sizes of blocks that contain others, or were freed in part, are not those of their allocations.
 */
static bool is_plain(const struct ml_replay *replay)
{
    for (size_t i = 0; i < replay->spaces.len; i++)
        if (replay->spaces.items[i].around > 0 || replay->spaces.items[i].ranged)
            return false;
    return true;
}

/* Without classes, the last label of a block may come after the window. */
static bool is_known(const struct ml_checkpoints *checkpoints, const struct ml_replay *end)
{
    return checkpoints->has_landmarks && is_plain(end) &&
           (checkpoints->classified || end->last_label_event == 0);
}

int ml_near_blocks_open(struct ml_near_blocks *near, const struct ml_trace *trace, uint64_t from_ns,
                        uint64_t to_ns, struct ml_error *err)
{
    int r;

    *near = (struct ml_near_blocks){.trace = trace, .from_ns = from_ns, .to_ns = to_ns};
    r = ml_checkpoints_open(trace, &near->checkpoints);
    if (r < 0)
        return -ENOENT;
    r = ml_totals_at_end(trace, &near->end, err);
    if (r == 0 && !is_known(&near->checkpoints, &near->end))
        r = -ENOENT;
    near->health = ml_health_of(&near->end);
    return r;
}

void ml_near_blocks_release(struct ml_near_blocks *near)
{
    ml_checkpoints_release(&near->checkpoints);
    ml_replay_release(&near->end);
}

/* Anything wrong with a checkpoint: the whole trace is read instead. */
static int without_damage(int r)
{
    return r == -EBADMSG ? -ENOENT : r;
}

/* ---- A table that is fed from a checkpoint on ---------------------------------- */

struct reading {
    const struct ml_near_blocks *near;
    struct ml_replay replay;
    struct ml_checkpoint_walk walk;
    struct ml_allocation_track track;
    struct ml_cursor *cursor;
};

static int begin(struct reading *r, const struct ml_near_blocks *near,
                 const struct ml_checkpoint *from, struct ml_error *err)
{
    int code;

    *r = (struct reading){.near = near};
    code = ml_replay_init(&r->replay, near->trace);
    if (code == 0)
        code = ml_checkpoint_walk_begin(&r->walk, &near->checkpoints, from, &r->replay);
    ml_allocation_track_begin(&r->track, &r->replay);
    if (code == 0 && ml_replay_is_moving(&r->replay))
        code = -ENOENT;
    if (code == 0)
        code = ml_cursor_open(near->trace, 0, UINT64_MAX, &r->cursor, err);
    if (code == 0)
        ml_cursor_skip(r->cursor, r->replay.events);
    return code;
}

static void release(struct reading *r)
{
    ml_cursor_free(r->cursor);
    ml_checkpoint_walk_release(&r->walk);
    ml_allocation_track_release(&r->track);
    ml_replay_release(&r->replay);
}

static int feed(struct reading *r, const struct ml_event *event)
{
    int code = ml_checkpoint_walk_on(&r->walk, event);

    return code < 0 ? code : ml_allocation_track_feed(&r->track, event);
}

/* ---- Allocations of the window --------------------------------------------------- */

struct window {
    struct reading reading;
    ml_near_block_fn *take;
    void *ctx;
};

static int take_ended(struct window *w)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < w->reading.track.batch.len; i++)
        r = w->take(w->ctx, &w->reading.track.batch.items[i]);
    ml_vec_clear(&w->reading.track.batch);
    return r;
}

static int take_live(struct window *w)
{
    const struct ml_replay *replay = &w->reading.replay;
    int r = 0;

    for (size_t i = 0; r == 0 && i < replay->blocks.len; i++) {
        const struct ml_block *block = &replay->blocks.items[i];

        if (block->live) {
            struct ml_allocation one = ml_allocation_track_describe(&w->reading.track, block);

            one.gone_ns = ml_replay_gone_ns(&w->reading.near->end, one.space);
            r = w->take(w->ctx, &one);
        }
    }
    return r;
}

/* A block that is being resized at the window's end has ended unless the resize fails. */
static int take_moving(struct window *w, uint32_t thread, bool failed)
{
    struct ml_allocation_track *track = &w->reading.track;

    for (size_t i = 0; failed && i < track->moving.len; i++)
        if (track->moving.items[i].thread == thread) {
            struct ml_allocation *goes_on = &track->moving.items[i].allocation;

            goes_on->ended = false;
            goes_on->gone_ns = ml_replay_gone_ns(&w->reading.near->end, goes_on->space);
            failed = false; /* it goes to the batch like the others */
        }
    return ml_allocation_track_settle(track, thread, failed);
}

static int look_after(struct window *w, const struct ml_event *events, int n)
{
    int r = 0;

    for (int i = 0; r == 0 && i < n && w->reading.track.moving.len > 0; i++)
        r = take_moving(w, events[i].thread, events[i].kind == ML_MOVE_FAILED);
    return r;
}

/* @return how many of the events are in the window, or negative errno */
static int feed_window(struct window *w, const struct ml_event *events, int n)
{
    int i = 0, r = 0;

    for (; r == 0 && i < n && events[i].time_ns <= w->reading.near->to_ns; i++)
        r = feed(&w->reading, &events[i]);
    if (r == 0)
        r = take_ended(w);
    return r < 0 ? r : i;
}

static int read_window(struct window *w, struct ml_error *err)
{
    const struct ml_event *events;
    bool is_after = false;
    int n = 0, r = 0;

    while (r == 0 && !(is_after && w->reading.track.moving.len == 0) &&
           (n = ml_cursor_next(w->reading.cursor, &events, err)) > 0) {
        int fed = is_after ? 0 : feed_window(w, events, n);

        is_after |= fed < n;
        r = fed < 0 ? fed : look_after(w, events + fed, n - fed);
    }
    for (size_t i = 0; r == 0 && n == 0 && i < w->reading.track.moving.len; i++)
        r = w->take(w->ctx, &w->reading.track.moving.items[i].allocation);
    if (r == 0)
        r = take_ended(w);
    return r < 0 || n > 0 ? r : n;
}

static int put_phase(void *ctx, const struct ml_event *event)
{
    struct reading *r = ctx;

    if (event->kind != ML_MARK || event->args[0] != MEMLEDGER_MARK_PHASE)
        return 0;
    return ml_map_put(&r->track.phases, ml_trace_thread(r->near->trace, event->thread)->process,
                      event->args[2]);
}

int ml_near_blocks_each(const struct ml_near_blocks *near, ml_near_block_fn *take, void *ctx,
                        struct ml_error *err)
{
    struct window w = {.take = take, .ctx = ctx};
    const struct ml_checkpoint *from =
        near->from_ns > 0 ? ml_checkpoint_before_time(&near->checkpoints, near->from_ns - 1)
                          : near->checkpoints.list.items;
    int r = begin(&w.reading, near, from, err);

    if (r == 0)
        r = ml_each_landmark(near->trace, ML_BLOCK_LANDMARKS, 0, from->at.time_ns, put_phase,
                             &w.reading, err);
    if (r == 0)
        r = read_window(&w, err);
    if (r == 0)
        r = take_live(&w);
    release(&w.reading);
    return without_damage(r);
}

/* ---- Ends ---------------------------------------------------------------------------- */

struct search {
    const struct ml_near_blocks *near;
    struct ml_error *err;
};

static bool is_same(const struct ml_allocation *a, const struct ml_allocation *b)
{
    return a->addr == b->addr && a->time_ns == b->time_ns && a->space == b->space;
}

/* Takes those that have ended out of the list. @return how many are left */
static size_t note_ends(const struct ml_allocation_track *track, struct ml_allocation **list,
                        size_t count)
{
    for (size_t i = 0; i < track->batch.len; i++)
        for (size_t k = 0; k < count; k++)
            if (is_same(list[k], &track->batch.items[i])) {
                list[k]->ended = true;
                list[k]->end_ns = track->batch.items[i].end_ns;
                list[k]->gone_ns = list[k]->end_ns;
                list[k] = list[--count];
                break;
            }
    return count;
}

/* Reads from a checkpoint to the next.
 * @return how many have not ended by then, or negative errno */
static int64_t read_stretch(const struct search *s, size_t from, struct ml_allocation **list,
                            size_t count)
{
    const struct ml_checkpoint *at = &s->near->checkpoints.list.items[from];
    bool is_last = from + 1 == s->near->checkpoints.list.len;
    uint64_t until = is_last ? UINT64_MAX : at[1].at.event;
    const struct ml_event *events;
    struct reading r;
    int n = 1, code = begin(&r, s->near, at, s->err);

    while (code == 0 && n > 0 && count > 0 && (r.replay.events < until || r.track.moving.len > 0)) {
        n = ml_cursor_next(r.cursor, &events, s->err);
        for (int i = 0; code == 0 && i < n && (r.replay.events < until || r.track.moving.len > 0);
             i++)
            code = feed(&r, &events[i]);
        count = note_ends(&r.track, list, count);
        ml_vec_clear(&r.track.batch);
    }
    release(&r);
    return code < 0 ? code : n < 0 ? n : (int64_t)count;
}

/* Those that a checkpoint has come first. @return their number, or negative errno */
static int64_t live_at(const struct search *s, size_t checkpoint, struct ml_allocation **list,
                       size_t count)
{
    struct ml_replay replay;
    struct ml_classes classes = {0};
    size_t live = 0;
    int r = ml_replay_init(&replay, s->near->trace);

    if (r == 0)
        r = ml_checkpoint_restore(&s->near->checkpoints,
                                  &s->near->checkpoints.list.items[checkpoint], &replay, &classes);
    for (size_t i = 0; r == 0 && i < count; i++) {
        struct ml_allocation *one = list[i];
        const struct ml_block *block = ml_replay_find(&replay, one->space, one->addr);

        if (block && block->addr == one->addr && block->time_ns == one->time_ns) {
            list[i] = list[live];
            list[live++] = one;
        }
    }
    ml_replay_release(&replay);
    ml_classes_release(&classes);
    return r < 0 ? r : (int64_t)live;
}

/* The checkpoint `from` has all of them, `to` none. */
static int find_between(const struct search *s, size_t from, size_t to, struct ml_allocation **list,
                        size_t count)
{
    size_t middle = from + (to - from) / 2;
    int64_t live;
    int r;

    if (count == 0)
        return 0;
    if (to - from == 1) {
        live = read_stretch(s, from, list, count);
        return live == 0 ? 0 : live < 0 ? (int)live : -EBADMSG;
    }
    live = live_at(s, middle, list, count);
    if (live < 0)
        return (int)live;
    r = find_between(s, middle, to, list, (size_t)live);
    return r < 0 ? r : find_between(s, from, middle, list + live, count - (size_t)live);
}

/* Most blocks end soon, or never. */
static int find_ends(const struct search *s, struct ml_allocation **list, size_t count)
{
    const struct ml_checkpoints *checkpoints = &s->near->checkpoints;
    size_t last = checkpoints->list.len - 1;
    size_t from =
        (size_t)(ml_checkpoint_before_time(checkpoints, s->near->to_ns) - checkpoints->list.items);
    int64_t left = count > 0 ? read_stretch(s, from, list, count) : 0, live;

    if (left <= 0 || from == last)
        return left < 0 ? (int)left : 0;
    live = live_at(s, last, list, (size_t)left);
    if (live >= 0 && live < left && from + 1 == last)
        return -EBADMSG;
    if (live >= 0 && live < left) {
        int r = find_between(s, from + 1, last, list + live, (size_t)(left - live));

        live = r < 0 ? r : live;
    }
    if (live > 0)
        live = read_stretch(s, last, list, (size_t)live);
    return live < 0 ? (int)live : 0;
}

/* ---- Allocations before the checkpoint -------------------------------------------------- */

/* The event that allocated it. */
static int read_request(const struct ml_trace *trace, struct ml_allocation *one,
                        struct ml_error *err)
{
    const struct ml_event *events;
    struct ml_cursor *cursor = NULL;
    int n = 0, r = ml_cursor_open(trace, one->time_ns, one->time_ns, &cursor, err);

    while (r == 0 && (n = ml_cursor_next(cursor, &events, err)) > 0)
        for (int i = 0; i < n; i++) {
            const struct ml_event *e = &events[i];

            if (e->kind != ML_ALLOC_EX || e->addr != one->addr || e->space != one->space)
                continue;
            one->has_stream = true;
            one->stream = e->args[1];
            one->requested = e->args[0] ? e->args[0] : one->size;
        }
    ml_cursor_free(cursor);
    return r < 0 ? r : n;
}

struct phases {
    const struct ml_trace *trace;
    struct ml_allocation **list;
    size_t count;
};

/* The last mark before an allocation stays. */
static int note_phase(void *ctx, const struct ml_event *event)
{
    const struct phases *p = ctx;
    uint32_t process;

    if (event->kind != ML_MARK || event->args[0] != MEMLEDGER_MARK_PHASE)
        return 0;
    process = ml_trace_thread(p->trace, event->thread)->process;
    for (size_t i = 0; i < p->count; i++)
        if (p->list[i]->time_ns >= event->time_ns &&
            ml_trace_thread(p->trace, p->list[i]->thread)->process == process)
            p->list[i]->phase = (uint32_t)event->args[2];
    return 0;
}

static int find_births(const struct search *s, struct ml_allocation **list, size_t count)
{
    struct phases phases = {.trace = s->near->trace, .list = list};
    int r = 0;

    for (size_t i = 0; i < count; i++) {
        struct ml_allocation *one = list[i];

        if (one->ordinal == ML_NO_ORDINAL) {
            list[i] = list[phases.count];
            list[phases.count++] = one;
        }
    }
    for (size_t i = 0; r == 0 && i < phases.count; i++)
        r = read_request(s->near->trace, list[i], s->err);
    if (r == 0 && phases.count > 0)
        r = ml_each_landmark(s->near->trace, ML_BLOCK_LANDMARKS, 0, s->near->to_ns, note_phase,
                             &phases, s->err);
    return r;
}

int ml_near_blocks_complete(const struct ml_near_blocks *near, struct ml_allocation **list,
                            size_t count, struct ml_error *err)
{
    const struct search s = {near, err};
    size_t open = 0;
    int r = find_births(&s, list, count);

    for (size_t i = 0; i < count; i++) {
        struct ml_allocation *one = list[i];

        if (!one->ended) {
            list[i] = list[open];
            list[open++] = one;
        }
    }
    if (r == 0)
        r = find_ends(&s, list, open);
    return without_damage(r);
}
