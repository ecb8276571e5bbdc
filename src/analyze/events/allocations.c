/* allocations.c: see allocations.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "allocations.h"

#include <errno.h>
#include <stdlib.h>

#include "classify.h"
#include "memledger/memledger.h"
#include "replay.h"

#define LEFT_AT_ONCE 4096 /* never-freed blocks in one batch */

/* Facts that a block's entry in the live table lacks. */
struct birth {
    uint64_t addr, time_ns; /* identify the block; parts of blocks have no such entry */
    uint64_t size, requested, ordinal, stream;
    uint32_t phase;
    bool has_stream;
};

/* A block that a thread is resizing ends only if the resize succeeds. */
struct moving {
    uint32_t thread;
    struct ml_allocation allocation;
};

struct ml_allocations {
    struct ml_classes classes;
    struct ml_replay replay;
    struct ml_cursor *cursor;
    ML_VEC(struct birth) births; /* by entry of the live table */
    ML_VEC(struct moving) moving;
    ML_VEC(struct ml_allocation) batch;
    struct ml_map phases; /* process -> string */
    bool at_end;
    uint64_t born;      /* so far */
    uint64_t requested; /* by the event being fed; 0: unknown */
    uint64_t stream;    /* of that event, if it has one */
    bool has_stream;
    size_t next_left; /* entry of the live table, at the end */
    int failed;       /* in a callback */
};

static struct ml_allocation describe(const struct ml_allocations *a, const struct ml_block *block)
{
    const struct ml_replay_space *space = &a->replay.spaces.items[block->space];
    size_t index = (size_t)(block - a->replay.blocks.items);
    struct ml_allocation ret = {
        .time_ns = block->time_ns,
        .addr = block->addr,
        .size = block->size,
        .requested = block->size,
        .space = space->number,
        .thread = ml_block_thread(block),
        .scope = block->scope,
        .stack = block->stack,
        .label = block->label,
        .ordinal = ML_NO_ORDINAL,
        .category = block->category,
        .counted = space->counted,
    };

    if (index < a->births.len) {
        const struct birth *birth = &a->births.items[index];

        if (birth->addr == block->addr && birth->time_ns == block->time_ns) {
            ret.size = birth->size;
            ret.requested = birth->requested;
            ret.phase = birth->phase;
            ret.ordinal = birth->ordinal;
            ret.stream = birth->stream;
            ret.has_stream = birth->has_stream;
        }
    }
    return ret;
}

static void on_close(void *ctx, const struct ml_block *block, const struct ml_event *event)
{
    struct ml_allocations *a = ctx;
    struct ml_allocation ended = describe(a, block);
    int r;

    ended.ended = true;
    ended.end_ns =
        ml_max_u64(event->time_ns, ended.time_ns); /* a damaged file may be out of order */
    if (event->kind == ML_MOVE)
        r = ml_vec_push(&a->moving, (struct moving){event->thread, ended});
    else
        r = ml_vec_push(&a->batch, ended);
    if (r < 0)
        a->failed = r;
}

/* The thread's resize has ended: if it succeeded, the old block ended. */
static int settle_move(struct ml_allocations *a, uint32_t thread, bool failed)
{
    for (size_t i = 0; i < a->moving.len; i++) {
        struct moving moving = a->moving.items[i];

        if (moving.thread != thread)
            continue;
        a->moving.items[i] = a->moving.items[--a->moving.len];
        return failed ? 0 : ml_vec_push(&a->batch, moving.allocation);
    }
    return 0;
}

static uint32_t process_of(const struct ml_allocations *a, uint32_t thread)
{
    return ml_trace_thread(a->replay.trace, thread)->process;
}

static void on_open(void *ctx, const struct ml_block *block)
{
    struct ml_allocations *a = ctx;
    size_t index = (size_t)(block - a->replay.blocks.items);
    uint64_t phase = 0;

    while (a->births.len <= index)
        if (ml_vec_push(&a->births, (struct birth){0}) < 0) {
            a->failed = -ENOMEM;
            return;
        }
    if (ml_map_len(&a->phases) > 0)
        ml_map_get(&a->phases, process_of(a, ml_block_thread(block)), &phase);
    a->births.items[index] = (struct birth){
        .addr = block->addr,
        .time_ns = block->time_ns,
        .size = block->size,
        .requested = a->requested ? a->requested : block->size,
        .ordinal = a->born++,
        .stream = a->stream,
        .has_stream = a->has_stream,
        .phase = (uint32_t)phase,
    };
}

static int feed(struct ml_allocations *a, const struct ml_event *event)
{
    int r = 0;

    if (a->moving.len > 0)
        r = settle_move(a, event->thread, event->kind == ML_MOVE_FAILED);
    a->has_stream = event->kind == ML_ALLOC_EX;
    a->requested = a->has_stream ? event->args[0] : 0;
    a->stream = a->has_stream ? event->args[1] : 0;
    if (r == 0)
        r = ml_replay_feed(&a->replay, event);
    if (r == 0 && event->kind == ML_MARK && event->args[0] == MEMLEDGER_MARK_PHASE)
        r = ml_map_put(&a->phases, process_of(a, event->thread), event->args[2]);
    return r < 0 ? r : a->failed;
}

/* At the end of the trace: adds blocks that are still live or being resized. */
static int take_left(struct ml_allocations *a)
{
    for (size_t i = 0; a->next_left == 0 && i < a->moving.len; i++)
        if (ml_vec_push(&a->batch, a->moving.items[i].allocation) < 0)
            return -ENOMEM;
    while (a->next_left < a->replay.blocks.len && a->batch.len < LEFT_AT_ONCE) {
        const struct ml_block *block = &a->replay.blocks.items[a->next_left++];

        if (block->live && ml_vec_push(&a->batch, describe(a, block)) < 0)
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
        r = feed(a, &events[i]);
    if (a->at_end)
        r = take_left(a);
    return r < 0 ? ml_error_set(err, r, "not enough memory for the live blocks of the trace") : 0;
}

int ml_allocations_next(struct ml_allocations *a, const struct ml_allocation **ret,
                        struct ml_error *err)
{
    int r = 0;

    ml_vec_clear(&a->batch);
    while (r == 0 && a->batch.len == 0 && !(a->at_end && a->next_left >= a->replay.blocks.len))
        r = read_some(a, err);
    *ret = a->batch.items;
    return r < 0 ? r : (int)a->batch.len;
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
    a->replay.on_open = on_open;
    a->replay.on_close = on_close;
    a->replay.ctx = a;
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
    ml_vec_release(&a->births);
    ml_vec_release(&a->moving);
    ml_vec_release(&a->batch);
    ml_map_release(&a->phases);
    free(a);
}
