/* health.c: see health.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "health.h"

#include <stdio.h>
#include <string.h>

#include "sampled.h"
#include "samples.h"

bool ml_health_no_allocations(const struct ml_replay *replay)
{
    for (size_t i = 0; i < replay->spaces.len; i++)
        if (replay->spaces.items[i].allocations > 0)
            return false;
    return true;
}

static void fill_import(const struct ml_trace *trace, struct ml_health *ret)
{
    const char *format = ml_trace_setting(trace, ML_SETTING_IMPORT_FORMAT);

    if (!format)
        return;
    snprintf(ret->imported_from, sizeof(ret->imported_from), "%s", format);
    ret->unknown = ml_unknowns_parse(ml_trace_setting(trace, ML_SETTING_IMPORT_UNKNOWN));
    ret->inferred = ml_trace_setting(trace, ML_SETTING_IMPORT_INFERRED) != NULL;
    ret->empty = false; /* many formats contain no allocations */
}

static unsigned left_alone(const struct ml_trace *trace)
{
    unsigned bits = 0;

    for (int i = 0; i < ML_LEFT_COUNT; i++)
        bits |= ml_trace_setting(trace, ml_left_alone[i].setting) ? 1u << i : 0;
    return bits;
}

bool ml_health_no_times(const struct ml_health *health)
{
    return health->unknown & ML_UNKNOWN_TIMES;
}

bool ml_health_no_frees(const struct ml_health *health)
{
    return health->unknown & ML_UNKNOWN_FREES;
}

bool ml_health_no_blocks(const struct ml_health *health)
{
    return health->unknown & ML_UNKNOWN_BLOCKS;
}

static unsigned unknown_in(const struct ml_trace *trace)
{
    return ml_unknowns_parse(ml_trace_setting(trace, ML_SETTING_IMPORT_UNKNOWN));
}

bool ml_trace_lacks_blocks(const struct ml_trace *trace)
{
    return unknown_in(trace) & ML_UNKNOWN_BLOCKS;
}

bool ml_trace_lacks_times(const struct ml_trace *trace)
{
    return unknown_in(trace) & ML_UNKNOWN_TIMES;
}

static void fill_part(const struct ml_replay *replay, struct ml_health *ret)
{
    uint32_t parts = 0;

    for (uint32_t i = 0; i < ml_trace_spaces(replay->trace); i++) {
        const struct ml_space *space = ml_trace_space(replay->trace, i);

        ret->sampled_bytes = ml_max_u64(ret->sampled_bytes, space->sampled_bytes);
        ret->least_bytes = ml_max_u64(ret->least_bytes, space->least_bytes);
    }
    if (!ret->sampled_bytes)
        return;
    ret->peak_bytes = replay->bytes.peak_bytes;
    if (replay->largest_weight > 0) {
        uint64_t mean = ret->sampled_bytes;
        ret->peak_error = (uint64_t)ml_sample_error(replay->peak_variance, mean);
        ret->allocated_error = (uint64_t)ml_sample_error(replay->allocated_variance, mean);
        ret->allocations_error = (uint64_t)ml_sample_count_error(replay->allocations_variance,
                                                                 replay->largest_weight, mean);
        ret->left_error = (uint64_t)ml_sample_error(replay->live_variance, mean);
    }
    for (size_t i = 0; i < replay->spaces.len; i++) {
        const struct ml_replay_space *s = &replay->spaces.items[i];
        ret->allocated_bytes += s->counted ? s->allocated_bytes : 0;
        if (s->counted)
            ml_sample_add(&ret->allocations, &parts, s->allocations, s->allocation_parts);
        ret->left_bytes += s->counted ? s->bytes.live_bytes : 0;
    }
}

static uint64_t number_setting(const struct ml_trace *trace, const char *key)
{
    const char *text = ml_trace_setting(trace, key);

    return text ? strtoull(text, NULL, 10) : 0;
}

/* The sum lacks a pause that goes on, or in which the collector was killed. */
static void fill_pauses(const struct ml_trace *trace, struct ml_health *ret)
{
    uint64_t now_ns = ml_trace_now_ns(trace);
    const char *since = ml_trace_setting(trace, ML_SETTING_PAUSED_SINCE_NS);

    ret->pauses = number_setting(trace, ML_SETTING_PAUSES);
    ret->paused_ns = number_setting(trace, ML_SETTING_PAUSED_NS);
    if (!since || !*since)
        return;
    ret->paused = ml_trace_info(trace)->being_written;
    ret->paused_ns += now_ns - ml_min_u64(strtoull(since, NULL, 10), now_ns);
}

/* Blocks from before the recording, or a pause of it, are freed in it. */
static void fill_gaps(const struct ml_trace *trace, struct ml_health *ret)
{
    const char *cuda = ml_trace_setting(trace, ML_SETTING_CUDA);

    ret->attached = cuda && strcmp(cuda, ML_CUDA_ATTACHED) == 0;
    fill_pauses(trace, ret);
    ret->began_late = ml_trace_setting(trace, ML_SETTING_BEGAN_LATE) != NULL;
    if (!ret->pauses && !ret->began_late)
        return;
    ret->inherited_frees += ret->unknown_frees;
    ret->unknown_frees = 0;
}

/* A program that was recorded from its start on is recorded to its end. */
static bool went_on(const struct ml_replay *replay)
{
    if (!ml_trace_setting(replay->trace, ML_SETTING_JOINED) ||
        !ml_trace_info(replay->trace)->has_index)
        return false;
    for (size_t i = 0; i < replay->processes.len; i++)
        if (!replay->processes.items[i].ended)
            return true;
    return false;
}

struct ml_health ml_health_of(const struct ml_replay *replay)
{
    const struct ml_trace_info *info = ml_trace_info(replay->trace);
    const char *heap = ml_trace_setting(replay->trace, "heap");

    struct ml_health health = {
        .lost = replay->lost,
        .lost_ring_full = replay->lost_by[ML_LOST_RING_FULL],
        .lost_not_written = replay->lost_by[ML_LOST_NOT_WRITTEN],
        .lost_damaged = replay->lost_by[ML_LOST_DAMAGED],
        .lost_not_followed = replay->lost_by[ML_LOST_NOT_FOLLOWED],
        .names_folded = replay->lost_by[ML_LOST_NAMES_FOLDED],
        .spaces_refused = replay->lost_by[ML_LOST_SPACES],
        .details_lost = replay->lost_by[ML_LOST_DETAILS],
        .lost_other = replay->lost_by[0],
        .cut_short = !info->has_index,
        .being_written = info->being_written,
        .ignored_bytes = info->ignored_bytes,
        .damaged_blocks = info->damaged_blocks,
        .damaged_events = info->damaged_events,
        .unknown_frees = replay->unknown_frees,
        .inherited_frees = replay->inherited_frees,
        .replaced = replay->replaced,
        .went_on = went_on(replay),
        .left_alone = left_alone(replay->trace),
        .window = ml_window_begin_of(replay),
        /* although the run was set to record some */
        .empty = !ml_trace_is_sample_only(replay->trace) && ml_health_no_allocations(replay),
    };

    health.silent_ns = ml_trace_now_ns(replay->trace) - info->end_ns;
    health.heap_recorded = heap && strcmp(heap, "off");
    health.heap_sampled = heap && !strncmp(heap, "sample", strlen("sample"));
    health.heap_large = heap && !strncmp(heap, "large", strlen("large"));
    fill_part(replay, &health);
    fill_gaps(replay->trace, &health);
    fill_import(replay->trace, &health);
    return health;
}
