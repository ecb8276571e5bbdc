/* stats_gather.c: see stats_gather.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stats_gather.h"

#include <errno.h>

#include "classify.h"
#include "each_event.h"
#include "sampled.h"
#include "samples.h"
#include "window_begin.h"

unsigned ml_size_class(uint64_t bytes)
{
    return bytes ? 64 - (unsigned)__builtin_clzll(bytes) : 0;
}

static struct ml_gather_thread *thread_of(struct ml_gather *g, uint32_t number)
{
    uint64_t at;

    if (!ml_map_get(&g->thread_index, number, &at)) {
        at = g->threads.len;
        if (ml_vec_push(&g->threads, (struct ml_gather_thread){.number = number}) < 0 ||
            ml_map_put(&g->thread_index, number, at) < 0)
            return NULL;
    }
    return &g->threads.items[at];
}

static struct ml_gather_scope *scope_of(struct ml_gather *g, uint32_t number)
{
    uint64_t at;

    if (!ml_map_get(&g->scope_index, number, &at)) {
        at = g->scopes.len;
        if (ml_vec_push(&g->scopes, (struct ml_gather_scope){.number = number}) < 0 ||
            ml_map_put(&g->scope_index, number, at) < 0)
            return NULL;
    }
    return &g->scopes.items[at];
}

/* Blocks of a size. An estimate belongs to the size of the sample. */
static struct ml_gather_size *size_of(struct ml_gather *g, uint64_t bytes, uint64_t mean)
{
    return &g->sizes[ml_size_class(mean ? ml_sample_size(bytes, mean) : bytes)];
}

/* The lifetime of a freed block; a replaced one has none. */
static void on_close(void *ctx, const struct ml_block *block, const struct ml_event *event)
{
    struct ml_gather *g = ctx;
    uint64_t mean = g->replay.spaces.items[block->space].sampled_bytes;
    struct ml_gather_size *size = size_of(g, block->size, mean);
    uint64_t blocks, life_ns = event->time_ns - block->time_ns;

    if (!g->replay.spaces.items[block->space].counted || event->kind == ML_ALLOC ||
        event->kind == ML_ALLOC_EX || event->time_ns < block->time_ns)
        return;
    blocks = ml_sample_count(&size->free_parts, block->size, mean);
    size->freed += blocks;
    size->life_ns += (double)life_ns * (mean ? ml_sample_weight(block->size, mean) : 1);
    g->longest_life_ns = ml_max_u64(g->longest_life_ns, life_ns);
}

/* Whether a sample's free is its thread's next memory event says nothing about the block. */
static int count_alloc(struct ml_gather *g, struct ml_gather_thread *thread,
                       const struct ml_event *event, const struct ml_replay_space *space)
{
    uint64_t mean = space->sampled_bytes, bytes = event->size;
    struct ml_gather_size *size = size_of(g, bytes, mean);
    struct ml_gather_scope *scope;
    bool counted = space->counted;

    thread->allocations += ml_sample_count(&thread->allocation_parts, bytes, mean);
    thread->allocated_bytes += bytes;
    thread->fresh = counted && !mean;
    if (!counted)
        return 0;
    thread->fresh_space = event->space;
    thread->fresh_scope = event->scope;
    thread->fresh_addr = event->addr;
    thread->fresh_size = bytes;
    size->allocations += ml_sample_count(&size->allocation_parts, bytes, mean);
    size->allocated_bytes += bytes;
    g->largest_bytes = ml_max_u64(g->largest_bytes, mean ? ml_sample_size(bytes, mean) : bytes);
    scope = scope_of(g, event->scope);
    if (!scope)
        return -ENOMEM;
    scope->allocations += ml_sample_count(&scope->allocation_parts, bytes, mean);
    scope->allocated_bytes += bytes;
    return 0;
}

static int count_free(struct ml_gather *g, struct ml_gather_thread *thread,
                      const struct ml_event *event)
{
    struct ml_gather_scope *scope;

    thread->frees++;
    if (!thread->fresh || thread->fresh_addr != event->addr ||
        thread->fresh_space != event->space) {
        thread->fresh = false;
        return 0;
    }
    thread->fresh = false;
    thread->temporary++;
    g->temporary++;
    g->temporary_bytes += thread->fresh_size;
    scope = scope_of(g, thread->fresh_scope);
    if (!scope)
        return -ENOMEM;
    scope->temporary++;
    return 0;
}

/* Whether the event is about a device and a process that count. */
static bool is_asked_for(const struct ml_replay *replay, const struct ml_event *event)
{
    const struct ml_trace *trace = replay->trace;

    if (!replay->only_device && !replay->only_pid)
        return true;
    if (event->kind == ML_SAMPLE && !ml_sample_is_inside(event)) /* has no thread */
        return !replay->only_pid &&
               ml_replay_has_device(replay, ml_trace_string(trace, (uint32_t)event->args[0], NULL));
    if ((ml_shapes[event->kind].bits & ML_HAS_ADDR) || event->kind == ML_OOM)
        return ml_replay_has_space(replay, event->space);
    return ml_replay_has_process(replay, ml_trace_thread(trace, event->thread)->process);
}

static int count_event(void *ctx, const struct ml_event *event)
{
    struct ml_gather *g = ctx;
    struct ml_gather_thread *thread;

    if (ml_replay_feed(&g->replay, event) < 0)
        return -ENOMEM;
    if (!is_asked_for(&g->replay, event))
        return 0;
    if (ml_object_book_add(&g->objects, event) < 0)
        return -ENOMEM;
    g->events++;
    g->kept += event->time_ns >= g->from_ns;
    if (event->kind < 32)
        g->kinds[event->kind]++;
    if (event->kind == ML_SAMPLE && !ml_sample_is_inside(event))
        return 0; /* has no thread */
    thread = thread_of(g, event->thread);
    if (!thread)
        return -ENOMEM;
    thread->events++;
    switch (event->kind) {
    case ML_ALLOC:
    case ML_ALLOC_EX:
        return count_alloc(g, thread, event, &g->replay.spaces.items[g->replay.last_space]);
    case ML_FREE:
    case ML_FREE_RANGE:
    case ML_MOVE: return count_free(g, thread, event);
    default: return 0;
    }
}

int ml_gather(struct ml_gather *gather, const struct ml_trace *trace,
              const struct ml_level_caps *caps, struct ml_error *err)
{
    struct ml_classes classes;
    int r = ml_classify(trace, &classes, err);

    *gather = (struct ml_gather){.objects = {.trace = trace}, .from_ns = ml_trace_kept_from(trace)};
    if (r == 0 && ml_replay_init_capped(&gather->replay, trace, caps) < 0)
        r = ml_error_set(err, -ENOMEM, "out of memory");
    ml_replay_classify(&gather->replay, &classes);
    gather->replay.on_close = on_close;
    gather->replay.ctx = gather;
    if (r == 0)
        r = ml_each_event(trace, count_event, gather, err);
    gather->replay.classes = NULL;
    ml_classes_release(&classes);
    return r;
}

void ml_gather_release(struct ml_gather *gather)
{
    ml_replay_release(&gather->replay);
    ml_object_book_release(&gather->objects);
    ml_vec_release(&gather->threads);
    ml_vec_release(&gather->scopes);
    ml_map_release(&gather->thread_index);
    ml_map_release(&gather->scope_index);
    *gather = (struct ml_gather){0};
}
