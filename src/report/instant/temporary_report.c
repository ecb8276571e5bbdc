/* temporary_report.c: see temporary_report.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "temporary_report.h"

#include <inttypes.h>
#include <stdio.h>

#include "cells.h"
#include "csv.h"
#include "snapshot_report.h"

/* ---- Text -------------------------------------------------------------- */

const char *ml_temporary_limit_words(const struct ml_temporary_limit *limit, char buf[96])
{
    char time[32];

    if (limit->by_time)
        snprintf(buf, 96, "freed within %s", ml_format_duration_ns(time, (int64_t)limit->ns));
    else
        snprintf(buf, 96, "freed before its thread made more than %" PRIu64 " other%s",
                 limit->allocations, limit->allocations == 1 ? "" : "s");
    return buf;
}

static int put_heading(const struct ml_temporary *t, const struct ml_style *style,
                       struct ml_buf *out)
{
    char bytes[32], count[32], all_bytes[32], all_count[32], words[96], step[48] = "";
    int r;

    if (t->one_step)
        snprintf(step, sizeof(step), " in step %" PRIu64, t->step);
    r = ml_report_heading(out, style, "%s temporary in %s allocation%s%s: %s",
                          ml_format_bytes(bytes, (int64_t)t->total.bytes, style->unit),
                          ml_format_count(count, (int64_t)t->total.allocations),
                          t->total.allocations == 1 ? "" : "s", step,
                          ml_temporary_limit_words(&t->limit, words));
    if (r == 0)
        r = ml_buf_printf(out, "Of %s in %s allocations in all.\n",
                          ml_format_bytes(all_bytes, (int64_t)t->all_bytes, style->unit),
                          ml_format_count(all_count, (int64_t)t->all_allocations));
    return r;
}

static void figures(struct ml_table *table, const struct ml_style *style,
                    const struct ml_temporary_group *group)
{
    ml_cells_bytes(table, style, group->bytes);
    ml_cells_percent(table, group->percent);
    ml_cells_count(table, group->allocations);
    ml_cells_bytes(table, style, group->mean_bytes);
    ml_cells_time(table, group->mean_life_ns);
}

static void group_row(struct ml_table *table, const struct ml_temporary *t,
                      const struct ml_style *style, const struct ml_temporary_group *group)
{
    figures(table, style, group);
    for (size_t i = 0; i < t->by_count; i++)
        if (group == &t->rest && i == 0)
            ml_table_cellf(table, "(%zu more)", t->rest_count);
        else if (group == &t->rest)
            ml_table_cell(table, "");
        else if (group->names[i][0])
            ml_table_cell(table, group->names[i]);
        else
            ml_table_cellf(table, "(no %s)", ml_key_name(t->by[i]));
}

int ml_temporary_text(const struct ml_temporary *temporary, const char *file,
                      const struct ml_style *style, struct ml_buf *out)
{
    static const char *const titles[] = {">bytes", ">share", ">allocations", ">mean size",
                                         ">mean life"};
    struct ml_table t;
    int r = ml_snapshot_origin_text(&temporary->at, file, style, out);

    if (r == 0)
        r = put_heading(temporary, style, out);
    if (r < 0 || temporary->total.allocations == 0)
        return r;
    ml_cells_columns(&t, titles, ML_ARRAY_SIZE(titles));
    for (size_t i = 0; i < temporary->by_count; i++)
        ml_table_column(&t, ml_key_name(temporary->by[i]), ML_LEFT);
    for (size_t i = 0; i < temporary->groups.len; i++)
        group_row(&t, temporary, style, &temporary->groups.items[i]);
    if (temporary->rest_count > 0)
        group_row(&t, temporary, style, &temporary->rest);
    return ml_cells_print(&t, r, out, style);
}

/* ---- JSON -------------------------------------------------------------- */

static void figures_json(struct ml_json *json, const struct ml_temporary_group *group)
{
    ml_json_kv_u64(json, "bytes", group->bytes);
    ml_json_kv_double(json, "percent", group->percent);
    ml_json_kv_u64(json, "allocations", group->allocations);
    ml_json_kv_u64(json, "mean_bytes", group->mean_bytes);
    ml_json_kv_u64(json, "mean_life_ns", group->mean_life_ns);
}

static void head_json(const struct ml_temporary *t, const char *file, struct ml_json *json)
{
    ml_snapshot_origin_json(&t->at, file, json);
    ml_json_kv_cstr(json, "device", t->at.device);
    if (t->one_step)
        ml_json_kv_u64(json, "step", t->step);
    else
        ml_json_kv_null(json, "step");
    ml_json_kv_u64(json, t->limit.by_time ? "within_ns" : "within_allocations",
                   t->limit.by_time ? t->limit.ns : t->limit.allocations);
    ml_json_kv_u64(json, "all_bytes", t->all_bytes);
    ml_json_kv_u64(json, "all_allocations", t->all_allocations);
    ml_json_key(json, "temporary");
    ml_json_begin_object(json);
    figures_json(json, &t->total);
    ml_json_end_object(json);
}

int ml_temporary_json(const struct ml_temporary *temporary, const char *file, struct ml_buf *out)
{
    struct ml_json json;

    ml_json_init(&json, out, true);
    ml_json_begin_object(&json);
    head_json(temporary, file, &json);
    ml_json_key(&json, "by");
    ml_json_begin_array(&json);
    for (size_t i = 0; i < temporary->by_count; i++)
        ml_json_cstr(&json, ml_key_name(temporary->by[i]));
    ml_json_end_array(&json);
    ml_json_key(&json, "groups");
    ml_json_begin_array(&json);
    for (size_t i = 0; i < temporary->groups.len; i++) {
        const struct ml_temporary_group *group = &temporary->groups.items[i];

        ml_json_begin_object(&json);
        figures_json(&json, group);
        for (size_t k = 0; k < temporary->by_count; k++)
            ml_json_kv_cstr(&json, ml_key_name(temporary->by[k]),
                            group->names[k][0] ? group->names[k] : NULL);
        ml_json_end_object(&json);
    }
    ml_json_end_array(&json);
    ml_json_key(&json, "rest");
    ml_json_begin_object(&json);
    ml_json_kv_u64(&json, "groups", temporary->rest_count);
    figures_json(&json, &temporary->rest);
    ml_json_end_object(&json);
    ml_json_end_object(&json);
    return ml_json_finish(&json);
}

/* ---- CSV --------------------------------------------------------------- */

static int group_csv(const struct ml_temporary *t, const struct ml_temporary_group *group,
                     bool safe, struct ml_buf *out)
{
    int r = ml_csv_u64(out, group->bytes);

    if (r == 0)
        r = ml_csv_u64(out, group->allocations);
    if (r == 0)
        r = ml_csv_u64(out, group->mean_life_ns);
    for (size_t i = 0; i < t->by_count && r == 0; i++)
        r = ml_csv_name(out, group->names[i], safe);
    return r < 0 ? r : ml_csv_end(out);
}

int ml_temporary_csv(const struct ml_temporary *temporary, bool safe, struct ml_buf *out)
{
    static const char *const titles[] = {"bytes", "allocations", "mean_life_ns"};
    int r = 0;

    for (size_t i = 0; i < ML_ARRAY_SIZE(titles) && r == 0; i++)
        r = ml_csv_text(out, titles[i]);
    for (size_t i = 0; i < temporary->by_count && r == 0; i++)
        r = ml_csv_text(out, ml_key_name(temporary->by[i]));
    if (r == 0)
        r = ml_csv_end(out);
    for (size_t i = 0; i < temporary->groups.len && r == 0; i++)
        r = group_csv(temporary, &temporary->groups.items[i], safe, out);
    return r;
}
