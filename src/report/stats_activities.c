/* stats_activities.c: operators, tasks, frames, events and counters, as text and as
 * JSON.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stats_report.h"

#include <inttypes.h>

#include "cells.h"

static size_t count_of(const struct ml_stats *s, bool counters)
{
    size_t count = 0;

    for (size_t i = 0; i < s->activities.list.len; i++)
        count += s->activities.list.items[i].is_counter == counters;
    return count;
}

static void time_cells(struct ml_table *t, const struct ml_activity *a)
{
    ml_cells_time(t, (uint64_t)a->total);
    ml_cells_time(t, (uint64_t)a->min);
    ml_cells_time(t, (uint64_t)a->max);
    ml_cells_time(t, (uint64_t)a->average);
}

static void value_cells(struct ml_table *t, const struct ml_activity *a)
{
    ml_table_cellf(t, "%" PRId64, a->total);
    ml_table_cellf(t, "%" PRId64, a->min);
    ml_table_cellf(t, "%" PRId64, a->max);
    ml_table_cellf(t, "%.1f", a->average);
}

static int put_table(const struct ml_stats *s, bool counters, const char *heading,
                     const char *const titles[7], const struct ml_style *style, struct ml_buf *out)
{
    struct ml_table t;
    int r;

    if (count_of(s, counters) == 0)
        return 0;
    r = ml_report_heading(out, style, "%s", heading);
    ml_cells_columns(&t, titles, 7);
    for (size_t i = 0; i < s->activities.list.len; i++) {
        const struct ml_activity *a = &s->activities.list.items[i];

        if (a->is_counter != counters)
            continue;
        ml_table_cell(&t, a->category);
        ml_table_cell(&t, a->name);
        ml_cells_count(&t, a->count);
        if (counters)
            value_cells(&t, a);
        else
            time_cells(&t, a);
    }
    return ml_cells_print(&t, r, out, style);
}

int ml_stats_activities_text(const struct ml_stats *stats, const struct ml_style *style,
                             struct ml_buf *out)
{
    static const char *const times[] = {"category", "name", ">times",  ">total",
                                        ">min",     ">max", ">average"};
    static const char *const values[] = {"category", "counter", ">values", ">last",
                                         ">min",     ">max",    ">average"};
    int r = put_table(stats, false, "Operators, tasks, frames and events", times, style, out);

    return r < 0 ? r : put_table(stats, true, "Counters", values, style, out);
}

static void names_json(const struct ml_activity *a, struct ml_json *json)
{
    ml_json_begin_object(json);
    ml_json_kv_cstr(json, "category", a->category);
    ml_json_kv_cstr(json, "name", a->name);
    ml_json_kv_u64(json, "count", a->count);
}

void ml_stats_activities_json(const struct ml_stats *stats, struct ml_json *json)
{
    const struct ml_activities *list = &stats->activities;

    ml_json_kv_u64(json, "activity_count", list->total);
    ml_json_key(json, "durations");
    ml_json_begin_array(json);
    for (size_t i = 0; i < list->list.len; i++) {
        const struct ml_activity *a = &list->list.items[i];

        if (a->is_counter)
            continue;
        names_json(a, json);
        ml_json_kv_i64(json, "total_ns", a->total);
        ml_json_kv_i64(json, "min_ns", a->min);
        ml_json_kv_i64(json, "max_ns", a->max);
        ml_json_kv_double(json, "average_ns", a->average);
        ml_json_end_object(json);
    }
    ml_json_end_array(json);
    ml_json_key(json, "counters");
    ml_json_begin_array(json);
    for (size_t i = 0; i < list->list.len; i++) {
        const struct ml_activity *a = &list->list.items[i];

        if (!a->is_counter)
            continue;
        names_json(a, json);
        ml_json_kv_i64(json, "last", a->total);
        ml_json_kv_i64(json, "min", a->min);
        ml_json_kv_i64(json, "max", a->max);
        ml_json_kv_double(json, "average", a->average);
        ml_json_end_object(json);
    }
    ml_json_end_array(json);
}
