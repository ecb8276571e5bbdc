/* earlier.c: see earlier.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "earlier.h"

#include <errno.h>

static void forget_peaks(struct ml_earlier *e)
{
    ml_vec_release(&e->peaks);
    ml_map_release(&e->peak_index);
}

void ml_earlier_release(struct ml_earlier *e)
{
    forget_peaks(e);
    *e = (struct ml_earlier){0};
}

static uint64_t key_of(enum ml_window_peak_of of, uint32_t number)
{
    return (uint64_t)of << 32 | number;
}

int ml_earlier_raise(struct ml_earlier *e, enum ml_window_peak_of of, uint32_t number,
                     struct ml_earlier_peak peak)
{
    uint64_t index = e->peaks.len;

    if (!ml_map_get(&e->peak_index, key_of(of, number), &index))
        return ml_vec_push(&e->peaks, peak) < 0 ||
                       ml_map_put(&e->peak_index, key_of(of, number), index) < 0
                   ? -ENOMEM
                   : 0;
    if (peak.bytes > e->peaks.items[index].bytes)
        e->peaks.items[index] = peak;
    return 0;
}

static int on_peak(void *ctx, const uint64_t *row)
{
    if (row[ML_WINDOW_PEAK_OF] > ML_PEAK_OF_PROCESS)
        return 0;
    return ml_earlier_raise(ctx, (enum ml_window_peak_of)row[ML_WINDOW_PEAK_OF],
                            (uint32_t)row[ML_WINDOW_PEAK_NUMBER],
                            (struct ml_earlier_peak){
                                ml_min_u64(row[ML_WINDOW_PEAK_SUM_BYTES], ML_BYTES_MAX),
                                row[ML_WINDOW_PEAK_SUM_NS],
                            });
}

static int on_space(void *ctx, const uint64_t *row)
{
    return ml_earlier_raise(ctx, ML_PEAK_OF_SPACE, (uint32_t)row[ML_WINDOW_SPACE_NUMBER],
                            (struct ml_earlier_peak){
                                ml_min_u64(row[ML_WINDOW_SPACE_PEAK_BYTES], ML_BYTES_MAX),
                                row[ML_WINDOW_SPACE_PEAK_NS],
                            });
}

int ml_earlier_read(struct ml_earlier *e, const struct ml_trace *trace)
{
    const struct ml_window_begin begin = ml_window_begin_of_trace(trace);
    uint64_t start_wall_ns = ml_trace_info(trace)->start_wall_ns;
    int r;

    if (e->start_wall_ns != start_wall_ns)
        ml_earlier_release(e);
    e->start_wall_ns = start_wall_ns;
    e->is_window = begin.is_window;
    e->begin_ns = begin.begin_ns;
    e->repeated = begin.repeated;
    e->before = (struct ml_following_totals){
        .events = begin.events - ml_min_u64(begin.events, begin.repeated),
        .refusals = begin.refusals,
        .allocations = begin.made,
        .frees = begin.freed,
        .steps = begin.steps,
    };
    if (!begin.is_window)
        return 0;
    r = ml_window_peaks(trace, on_peak, e);
    return r < 0 ? r : ml_window_spaces(trace, on_space, e);
}

struct ml_earlier_peak ml_earlier_highest(const struct ml_earlier *e, enum ml_window_peak_of of,
                                          uint32_t number, struct ml_earlier_peak since)
{
    uint64_t index;

    if (ml_map_get(&e->peak_index, key_of(of, number), &index) &&
        e->peaks.items[index].bytes >= since.bytes)
        return e->peaks.items[index];
    return since;
}

struct ml_following_totals ml_earlier_add(const struct ml_earlier *e,
                                          struct ml_following_totals since)
{
    return (struct ml_following_totals){
        .events = ml_max_u64(e->least.events, e->before.events + since.events),
        .lost = ml_max_u64(e->least.lost, since.lost),
        .refusals = ml_max_u64(e->least.refusals, e->before.refusals + since.refusals),
        .allocations = ml_max_u64(e->least.allocations, e->before.allocations + since.allocations),
        .frees = ml_max_u64(e->least.frees, e->before.frees + since.frees),
        .steps = ml_max_u64(e->least.steps, e->before.steps + since.steps),
    };
}
