/* allocation_track.c: see allocation_track.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "allocation_track.h"

#include <errno.h>

#include "memledger/memledger.h"

struct ml_allocation ml_allocation_track_describe(const struct ml_allocation_track *a,
                                                  const struct ml_block *block)
{
    const struct ml_replay_space *space = &a->replay->spaces.items[block->space];
    size_t index = (size_t)(block - a->replay->blocks.items);
    struct ml_allocation ret = {
        .time_ns = block->time_ns,
        .gone_ns = ml_replay_gone_ns(a->replay, space->number),
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
        const struct ml_allocation_birth *birth = &a->births.items[index];

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
    struct ml_allocation_track *a = ctx;
    struct ml_allocation ended = ml_allocation_track_describe(a, block);
    int r;

    ended.ended = true;
    ended.end_ns =
        ml_max_u64(event->time_ns, ended.time_ns); /* a damaged file may be out of order */
    ended.gone_ns = ended.end_ns;
    if (event->kind == ML_MOVE)
        r = ml_vec_push(&a->moving, (struct ml_allocation_moving){event->thread, ended});
    else
        r = ml_vec_push(&a->batch, ended);
    if (r < 0)
        a->failed = r;
}

int ml_allocation_track_settle(struct ml_allocation_track *a, uint32_t thread, bool failed)
{
    for (size_t i = 0; i < a->moving.len; i++) {
        struct ml_allocation_moving moving = a->moving.items[i];

        if (moving.thread != thread)
            continue;
        a->moving.items[i] = a->moving.items[--a->moving.len];
        return failed ? 0 : ml_vec_push(&a->batch, moving.allocation);
    }
    return 0;
}

static uint32_t process_of(const struct ml_allocation_track *a, uint32_t thread)
{
    return ml_trace_thread(a->replay->trace, thread)->process;
}

static void on_open(void *ctx, const struct ml_block *block)
{
    struct ml_allocation_track *a = ctx;
    size_t index = (size_t)(block - a->replay->blocks.items);
    uint64_t phase = 0;

    while (a->births.len <= index)
        if (ml_vec_push(&a->births, (struct ml_allocation_birth){0}) < 0) {
            a->failed = -ENOMEM;
            return;
        }
    if (ml_map_len(&a->phases) > 0)
        ml_map_get(&a->phases, process_of(a, ml_block_thread(block)), &phase);
    a->births.items[index] = (struct ml_allocation_birth){
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

int ml_allocation_track_feed(struct ml_allocation_track *a, const struct ml_event *event)
{
    int r = 0;

    if (a->moving.len > 0)
        r = ml_allocation_track_settle(a, event->thread, event->kind == ML_MOVE_FAILED);
    a->has_stream = event->kind == ML_ALLOC_EX;
    a->requested = a->has_stream ? event->args[0] : 0;
    a->stream = a->has_stream ? event->args[1] : 0;
    if (r == 0)
        r = ml_replay_feed(a->replay, event);
    if (r == 0 && event->kind == ML_MARK && event->args[0] == MEMLEDGER_MARK_PHASE)
        r = ml_map_put(&a->phases, process_of(a, event->thread), event->args[2]);
    return r < 0 ? r : a->failed;
}

void ml_allocation_track_begin(struct ml_allocation_track *track, struct ml_replay *replay)
{
    *track = (struct ml_allocation_track){.replay = replay};
    replay->on_open = on_open;
    replay->on_close = on_close;
    replay->ctx = track;
}

void ml_allocation_track_release(struct ml_allocation_track *track)
{
    ml_vec_release(&track->births);
    ml_vec_release(&track->moving);
    ml_vec_release(&track->batch);
    ml_map_release(&track->phases);
}
