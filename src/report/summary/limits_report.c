/* limits_report.c: see limits_report.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "limits_report.h"

#include <inttypes.h>
#include <stdio.h>

#include "cells.h"
#include "health_report.h"
#include "json.h"
#include "text.h"

static const char *const kind_words[] = {
    [ML_LIMIT_PEAK] = "peak",
    [ML_LIMIT_GROWTH] = "growth per step",
    [ML_LIMIT_LEFT] = "never freed",
    [ML_LIMIT_LOST] = "lost events",
    [ML_LIMIT_DROPPED] = "dropped events",
    [ML_LIMIT_PAUSES] = "pauses",
    [ML_LIMIT_UNFINISHED] = "unfinished recording",
};

static const char *const kind_keys[] = {
    [ML_LIMIT_PEAK] = "peak_bytes",        [ML_LIMIT_GROWTH] = "growth_bytes_per_step",
    [ML_LIMIT_LEFT] = "never_freed_bytes", [ML_LIMIT_LOST] = "lost_events",
    [ML_LIMIT_DROPPED] = "dropped_events", [ML_LIMIT_PAUSES] = "pauses",
    [ML_LIMIT_UNFINISHED] = "unfinished",
};

/* The command that shows what exceeded the limit. */
static const char *next_command(enum ml_limit_kind kind)
{
    switch (kind) {
    case ML_LIMIT_PEAK: return "tree";
    case ML_LIMIT_GROWTH: return "leaks";
    case ML_LIMIT_LEFT: return "leaks --never-freed";
    case ML_LIMIT_LOST:
    case ML_LIMIT_DROPPED:
    case ML_LIMIT_PAUSES:
    case ML_LIMIT_UNFINISHED: return "summary";
    }
    return "summary";
}

static void add_row(struct ml_table *table, const struct ml_limit_check *check,
                    const struct ml_style *style)
{
    ml_table_cell(table, check->kept ? "ok" : "EXCEEDED");
    ml_table_cell(table, kind_words[check->kind]);
    ml_table_cell(table, check->device);
    if (check->kind == ML_LIMIT_UNFINISHED) {
        ml_table_cell(table, NULL);
        ml_table_cell(table, NULL);
        return;
    }
    if (!check->device) {
        ml_cells_count(table, check->measured);
        ml_cells_count(table, check->allowed);
        return;
    }
    ml_cells_bytes(table, style, check->measured);
    ml_cells_bytes(table, style, check->allowed);
}

static int put_advice(const struct ml_limits *limits, const char *file, struct ml_buf *out)
{
    unsigned said = 0;
    int r = 0;

    for (size_t i = 0; r == 0 && i < limits->checks.len; i++) {
        const struct ml_limit_check *check = &limits->checks.items[i];
        unsigned bit = 1u << (check->device ? check->kind : ML_LIMIT_LOST); /* one for all counts */

        if (check->kept || said & bit)
            continue;
        said |= bit;
        r = ml_buf_printf(out, "memledger %s", next_command(check->kind));
        if (r == 0 && check->pid)
            r = ml_buf_printf(out, " --process=%" PRIu32, check->pid);
        if (r == 0)
            r = ml_buf_printf(out, " %s shows more\n", file);
    }
    return r;
}

int ml_limits_text(const struct ml_limits *limits, const char *file, const struct ml_style *style,
                   struct ml_buf *out)
{
    static const char *const titles[] = {"result", "limit", "device", ">measured", ">allowed"};
    size_t count = limits->checks.len;
    struct ml_table table;
    int r = ml_health_text(&limits->health, NULL, style, out);

    ml_table_init(&table);
    ml_cells_columns(&table, titles, ML_ARRAY_SIZE(titles));
    for (size_t i = 0; i < count; i++)
        add_row(&table, &limits->checks.items[i], style);
    r = ml_cells_print(&table, r, out, style);
    if (r == 0)
        r = ml_buf_printf(out, "\n%s: %zu of %zu check%s failed\n", file, limits->exceeded, count,
                          count == 1 ? "" : "s");
    return r == 0 ? put_advice(limits, file, out) : r;
}

static void put_check(struct ml_json *json, const struct ml_limit_check *check)
{
    ml_json_begin_object(json);
    ml_json_kv_cstr(json, "limit", kind_keys[check->kind]);
    if (check->device)
        ml_json_kv_cstr(json, "device", check->device);
    ml_json_kv_u64(json, "measured", check->measured);
    ml_json_kv_u64(json, "allowed", check->allowed);
    ml_json_kv_bool(json, "kept", check->kept);
    if (check->kind == ML_LIMIT_PEAK)
        ml_json_kv_u64(json, "time_ns", check->time_ns);
    if (check->kind == ML_LIMIT_GROWTH)
        ml_json_kv_u64(json, "steps", check->steps);
    if (check->pid)
        ml_json_kv_u64(json, "pid", check->pid);
    ml_json_end_object(json);
}

int ml_limits_json(const struct ml_limits *limits, const char *file, struct ml_buf *out)
{
    struct ml_json json;

    ml_json_init(&json, out, true);
    ml_json_begin_object(&json);
    ml_json_kv_cstr(&json, "file", file);
    ml_json_kv_bool(&json, "kept", limits->exceeded == 0);
    ml_json_kv_u64(&json, "exceeded", limits->exceeded);
    ml_json_key(&json, "checks");
    ml_json_begin_array(&json);
    for (size_t i = 0; i < limits->checks.len; i++)
        put_check(&json, &limits->checks.items[i]);
    ml_json_end_array(&json);
    ml_health_json(&limits->health, &json);
    ml_json_end_object(&json);
    return ml_json_finish(&json);
}
