/* allocator_limit.c: see allocator_limit.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "allocator_limit.h"

#include <string.h>

#include "checkpoints.h"
#include "cuda_spaces.h"
#include "each_event.h"
#include "memledger/memledger.h"
#include "replay.h"
#include "samples.h"
#include "torch_packing.h"

struct scan {
    const char *device;
    uint32_t pid;
    struct ml_replay replay;
    struct ml_seen free;      /* the latest sample */
    uint32_t refusing_thread; /* + 1: the driver has just refused a request of it */
    struct ml_allocator_limit *ret;
};

static bool is_here(const struct scan *s, const struct ml_space *space)
{
    const struct ml_trace *trace = s->replay.trace;

    return ml_trace_process(trace, space->process)->pid == s->pid &&
           strcmp(ml_trace_string(trace, space->device, NULL), s->device) == 0;
}

/* The bytes of the process in allocations that can be segments. */
static uint64_t segment_bytes(const struct scan *s)
{
    const struct ml_trace *trace = s->replay.trace;
    uint64_t bytes = 0;

    for (size_t i = 0; i < s->replay.spaces.len; i++) {
        const struct ml_replay_space *at = &s->replay.spaces.items[i];
        const struct ml_space *space = ml_trace_space(trace, at->number);
        const char *name = ml_trace_string(trace, space->name, NULL);

        if (!at->ended && is_here(s, space) && at->level == MEMLEDGER_DRIVER &&
            (strcmp(name, ML_CUDA_MEMORY) == 0 || strcmp(name, ML_CUDA_VIRTUAL) == 0))
            bytes += at->bytes.live_bytes;
    }
    return bytes;
}

static void on_oom(struct scan *s, const struct ml_event *event)
{
    const struct ml_trace *trace = s->replay.trace;
    const struct ml_space *space = ml_trace_space(trace, event->space);
    uint64_t need = ml_torch_segment_bytes(event->size), has;
    bool asked_driver = s->refusing_thread == event->thread + 1;

    if (!is_here(s, space))
        return;
    s->refusing_thread = space->level == MEMLEDGER_DRIVER ? event->thread + 1 : 0;
    if (space->level == MEMLEDGER_DRIVER || asked_driver || !s->free.known ||
        s->free.bytes < need ||
        !ml_torch_is_caching(s->device, ml_trace_string(trace, space->name, NULL)))
        return;
    has = segment_bytes(s);
    if (has == 0)
        return;
    s->ret->at_least = ml_max_u64(s->ret->at_least, has);
    s->ret->below =
        s->ret->known ? ml_min_u64(s->ret->below, ml_sum_u64(has, need)) : ml_sum_u64(has, need);
    s->ret->known = true;
}

static int on_event(void *ctx, const struct ml_event *event)
{
    struct scan *s = ctx;
    const struct ml_trace *trace = s->replay.trace;

    if (event->kind == ML_OOM)
        on_oom(s, event);
    else if (event->kind == ML_SAMPLE && (event->args[1] & ML_SAMPLE_FREE) &&
             event->args[0] <= UINT32_MAX &&
             strcmp(ml_trace_string(trace, (uint32_t)event->args[0], NULL), s->device) == 0)
        s->free = (struct ml_seen){true, event->args[3]};
    return ml_replay_feed(&s->replay, event);
}

/* Checkpoints know without reading the trace. */
static bool may_have_refusals(const struct ml_trace *trace)
{
    struct ml_checkpoints checkpoints = {0};
    struct ml_replay end = {0};
    bool may = ml_checkpoints_open(trace, &checkpoints) < 0 || ml_replay_init(&end, trace) < 0 ||
               ml_checkpoints_restore_end(&checkpoints, &end) < 0 || end.ooms > 0;

    ml_replay_release(&end);
    ml_checkpoints_release(&checkpoints);
    return may;
}

int ml_allocator_limit(const struct ml_trace *trace, const char *device, uint32_t pid,
                       struct ml_allocator_limit *ret, struct ml_error *err)
{
    struct scan s = {.device = device, .pid = pid, .ret = ret};
    int r;

    *ret = (struct ml_allocator_limit){0};
    if (!may_have_refusals(trace))
        return 0;
    r = ml_replay_init(&s.replay, trace);
    if (r == 0)
        r = ml_each_event(trace, on_event, &s, err);
    /* Contradictory refusals: the limit changed during the run. */
    if (ret->at_least >= ret->below)
        *ret = (struct ml_allocator_limit){0};
    ml_replay_release(&s.replay);
    return r;
}
