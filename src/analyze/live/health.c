/* health.c: see health.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "health.h"

#include <stdio.h>
#include <string.h>

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
        .left_alone = left_alone(replay->trace),
        /* although the run was set to record some */
        .empty = !ml_trace_is_sample_only(replay->trace) && ml_health_no_allocations(replay),
    };

    health.heap_recorded = heap && strcmp(heap, "off");
    fill_import(replay->trace, &health);
    return health;
}
