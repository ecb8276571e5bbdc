/* stats.c: see stats.h. Turns the gathered counts into figures, names and sorted lists.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stats.h"

#include <errno.h>
#include <stdlib.h>

#include "sampled.h"
#include "stats_gather.h"
#include "stats_tables.h"

static double ratio(double a, double b)
{
    return b > 0 ? a / b : 0;
}

static void fill_totals(const struct ml_gather *g, struct ml_stats *ret)
{
    const struct ml_trace_info *info = ml_trace_info(g->replay.trace);
    uint32_t allocation_parts = 0, free_parts = 0;
    double life_ns = 0;

    ret->health = ml_health_of(&g->replay);
    ret->events = g->events;
    ret->duration_ns = info->end_ns - ret->health.window.begin_ns;
    ret->file_bytes = info->file_bytes;
    ret->event_bytes = info->event_bytes;
    ret->events_per_second = ratio((double)g->kept * 1e9, (double)ret->duration_ns);
    ret->bytes_per_event = ratio((double)info->event_bytes, (double)g->replay.events);
    for (size_t i = 0; i < 32; i++)
        ret->kinds[i] = g->kinds[i];
    for (size_t i = 0; i < ML_SIZE_CLASSES; i++) {
        ml_sample_add(&ret->allocations, &allocation_parts, g->sizes[i].allocations,
                      g->sizes[i].allocation_parts);
        ret->allocated_bytes += g->sizes[i].allocated_bytes;
        ml_sample_add(&ret->freed, &free_parts, g->sizes[i].freed, g->sizes[i].free_parts);
        life_ns += g->sizes[i].life_ns;
    }
    ret->average_bytes = ret->allocations ? ret->allocated_bytes / ret->allocations : 0;
    ret->largest_bytes = g->largest_bytes;
    ret->average_life_ns = (uint64_t)ratio(life_ns, (double)ret->freed);
    ret->longest_life_ns = g->longest_life_ns;
    ret->temporary = g->temporary;
    ret->temporary_bytes = g->temporary_bytes;
    ret->temporary_percent = 100 * ratio((double)g->temporary, (double)ret->allocations);
}

static int fill_sizes(const struct ml_gather *g, struct ml_stats *ret)
{
    size_t first = ML_SIZE_CLASSES, last = 0;

    for (size_t i = 0; i < ML_SIZE_CLASSES; i++)
        if (g->sizes[i].allocations > 0 || g->sizes[i].freed > 0) {
            first = first < i ? first : i;
            last = i;
        }
    for (size_t i = first; i <= last && i < ML_SIZE_CLASSES; i++) {
        const struct ml_gather_size *from = &g->sizes[i];
        struct ml_stats_size size = {
            .from_bytes = i ? UINT64_C(1) << (i - 1) : 0,
            .to_bytes = i ? (UINT64_C(1) << (i - 1)) - 1 + (UINT64_C(1) << (i - 1)) : 0,
            .allocations = from->allocations,
            .allocated_bytes = from->allocated_bytes,
            .percent = 100 * ratio((double)from->allocations, (double)ret->allocations),
            .freed = from->freed,
            .average_life_ns = (uint64_t)ratio(from->life_ns, (double)from->freed),
        };

        if (ml_vec_push(&ret->sizes, size) < 0)
            return -ENOMEM;
    }
    return 0;
}

static int fill_all(struct ml_gather *g, const struct ml_stats_opts *opts, struct ml_stats *ret)
{
    size_t top = opts->top;
    int r;

    fill_totals(g, ret);
    r = fill_sizes(g, ret);
    if (r == 0)
        r = ml_stats_threads(g, top, ret);
    if (r == 0)
        r = ml_stats_spaces(g, ret);
    if (r == 0)
        r = ml_stats_scopes(g, top, ret);
    if (r == 0)
        r = ml_stats_largest(g, top, ret);
    if (r == 0)
        r = ml_object_book_rows(&g->objects, opts->order, top, &ret->arena, &ret->objects);
    return r;
}

int ml_measure(const struct ml_trace *trace, const struct ml_stats_opts *opts, struct ml_stats *ret,
               struct ml_error *err)
{
    struct ml_gather gather;
    int r;

    *ret = (struct ml_stats){0};
    r = ml_gather(&gather, trace, opts->caps, err);
    if (r == 0) {
        r = fill_all(&gather, opts, ret);
        if (r < 0)
            ml_error_set(err, r, "out of memory");
    }
    ml_gather_release(&gather);
    return r;
}

void ml_stats_release(struct ml_stats *stats)
{
    ml_arena_release(&stats->arena);
    ml_vec_release(&stats->sizes);
    ml_vec_release(&stats->threads);
    ml_vec_release(&stats->spaces);
    ml_vec_release(&stats->by_count);
    ml_vec_release(&stats->by_bytes);
    ml_vec_release(&stats->largest);
    ml_vec_release(&stats->objects);
    *stats = (struct ml_stats){0};
}
