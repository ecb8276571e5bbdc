/* stats_tables.c: see stats_tables.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stats_tables.h"

#include <errno.h>
#include <stdlib.h>

#include "event_names.h"
#include "scope_path.h"
#include "summary_tables.h"

/* For qsort: the larger first, equal ones by number. */
static int larger_first(uint64_t a, uint64_t b, uint64_t a_number, uint64_t b_number)
{
    if (a != b)
        return a < b ? 1 : -1;
    return a_number < b_number ? -1 : a_number > b_number;
}

static const char *copy_string(const struct ml_trace *trace, uint32_t string,
                               struct ml_arena *arena)
{
    uint32_t len;
    const char *text = ml_trace_string(trace, string, &len);

    return ml_arena_dup(arena, text, len);
}

/* ---- Threads ----------------------------------------------------------- */

static int by_events(const void *a, const void *b)
{
    const struct ml_gather_thread *x = a, *y = b;

    return larger_first(x->events, y->events, x->number, y->number);
}

int ml_stats_threads(struct ml_gather *g, size_t top, struct ml_stats *ret)
{
    const struct ml_trace *trace = g->replay.trace;

    ml_vec_sort(&g->threads, by_events);
    ret->thread_total = g->threads.len;
    for (size_t i = 0; i < g->threads.len && i < top; i++) {
        const struct ml_gather_thread *from = &g->threads.items[i];
        const struct ml_thread *thread = ml_trace_thread(trace, from->number);
        struct ml_stats_thread t = {
            .pid = ml_trace_process(trace, thread->process)->pid,
            .tid = thread->tid,
            .name = copy_string(trace, thread->name, &ret->arena),
            .events = from->events,
            .allocations = from->allocations,
            .allocated_bytes = from->allocated_bytes,
            .frees = from->frees,
            .temporary = from->temporary,
        };

        if (!t.name || ml_vec_push(&ret->threads, t) < 0)
            return -ENOMEM;
    }
    return 0;
}

/* ---- Spaces ------------------------------------------------------------ */

static int by_allocated(const void *a, const void *b)
{
    const struct ml_stats_space *x = a, *y = b;

    return larger_first(x->figures.allocated_bytes, y->figures.allocated_bytes, x->pid, y->pid);
}

int ml_stats_spaces(const struct ml_gather *g, struct ml_stats *ret)
{
    const struct ml_trace *trace = g->replay.trace;

    for (size_t i = 0; i < g->replay.spaces.len; i++) {
        const struct ml_replay_space *from = &g->replay.spaces.items[i];
        const struct ml_space *space = ml_trace_space(trace, from->number);
        struct ml_stats_space s = {
            .pid = ml_trace_process(trace, space->process)->pid,
            .device = copy_string(trace, space->device, &ret->arena),
            .level = ml_level_name(from->level),
            .name = copy_string(trace, space->name, &ret->arena),
            .counted = from->counted,
        };

        if (!ml_replay_has_space(&g->replay, from->number))
            continue;
        ml_figures_add(&s.figures, from);
        s.figures.peak_bytes = from->bytes.peak_bytes;
        s.figures.peak_time_ns = from->bytes.peak_time_ns;
        if (!s.device || !s.name || ml_vec_push(&ret->spaces, s) < 0)
            return -ENOMEM;
    }
    ml_vec_sort(&ret->spaces, by_allocated);
    return 0;
}

/* ---- Scopes ------------------------------------------------------------ */

static int by_count(const void *a, const void *b)
{
    const struct ml_gather_scope *x = a, *y = b;

    return larger_first(x->allocations, y->allocations, x->number, y->number);
}

static int by_bytes(const void *a, const void *b)
{
    const struct ml_gather_scope *x = a, *y = b;

    return larger_first(x->allocated_bytes, y->allocated_bytes, x->number, y->number);
}

static int name_scope(const struct ml_gather *g, size_t i, struct ml_arena *arena,
                      struct ml_stats_scope *ret)
{
    const struct ml_gather_scope *from = &g->scopes.items[i];

    *ret = (struct ml_stats_scope){
        .path = ml_scope_path_dup(g->replay.trace, from->number, arena),
        .allocations = from->allocations,
        .allocated_bytes = from->allocated_bytes,
        .temporary = from->temporary,
    };
    return ret->path ? 0 : -ENOMEM;
}

int ml_stats_scopes(struct ml_gather *g, size_t top, struct ml_stats *ret)
{
    size_t count = g->scopes.len < top ? g->scopes.len : top;
    struct ml_stats_scope scope;

    ret->scope_total = g->scopes.len;
    if (g->scopes.len == 0)
        return 0;
    ml_vec_sort(&g->scopes, by_count);
    for (size_t i = 0; i < count; i++)
        if (name_scope(g, i, &ret->arena, &scope) < 0 || ml_vec_push(&ret->by_count, scope) < 0)
            return -ENOMEM;
    ml_vec_sort(&g->scopes, by_bytes);
    for (size_t i = 0; i < count; i++)
        if (name_scope(g, i, &ret->arena, &scope) < 0 || ml_vec_push(&ret->by_bytes, scope) < 0)
            return -ENOMEM;
    return 0;
}

/* ---- The largest blocks that were never freed -------------------------- */

struct live_block {
    const struct ml_block *block;
};

static int by_size(const void *a, const void *b)
{
    const struct ml_block *x = ((const struct live_block *)a)->block;
    const struct ml_block *y = ((const struct live_block *)b)->block;

    return larger_first(x->size, y->size, x->time_ns, y->time_ns);
}

static int name_block(const struct ml_replay *replay, const struct ml_block *block,
                      struct ml_stats *ret)
{
    const struct ml_trace *trace = replay->trace;
    const struct ml_space *space = ml_trace_space(trace, replay->spaces.items[block->space].number);
    struct ml_stats_block b = {
        .address = block->addr,
        .bytes = block->size,
        .time_ns = block->time_ns,
        .device = copy_string(trace, space->device, &ret->arena),
        .space = copy_string(trace, space->name, &ret->arena),
        .scope = ml_scope_path_dup(trace, block->scope, &ret->arena),
        .label = block->label ? copy_string(trace, block->label, &ret->arena) : "",
        .category = ml_category_name(block->category),
    };

    if (!b.device || !b.space || !b.scope || !b.label)
        return -ENOMEM;
    return ml_vec_push(&ret->largest, b);
}

int ml_stats_largest(const struct ml_gather *g, size_t top, struct ml_stats *ret)
{
    ML_VEC(struct live_block) live = {0};
    const struct ml_block *block;
    size_t cursor = 0;
    int r = 0;

    while (r == 0 && (block = ml_replay_next(&g->replay, true, &cursor)))
        if (!g->replay.spaces.items[block->space].drivers_own)
            r = ml_vec_push(&live, (struct live_block){block});
    ml_vec_sort(&live, by_size);
    for (size_t i = 0; r == 0 && i < live.len && i < top; i++)
        r = name_block(&g->replay, live.items[i].block, ret);
    ml_vec_release(&live);
    return r;
}
