/* never_freed_report.c: see never_freed_report.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "never_freed_report.h"

#include <stdio.h>

#include "health_report.h"
#include "json.h"
#include "stack_report.h"

#define FRAMES_SHOWN 12

/* ---- Text -------------------------------------------------------------- */

/* "80.8 KiB in 2 blocks" */
static const char *sum_text(const struct ml_cost_group *group, const struct ml_style *style,
                            char buf[96])
{
    char count[32];

    snprintf(buf, 96, "%s in %s block%s",
             ml_report_size(style, group->figures[ML_COST_LEAKED]).text,
             ml_format_count(count, (int64_t)group->leaked_blocks),
             group->leaked_blocks == 1 ? "" : "s");
    return buf;
}

static int put_group(const struct ml_trace *trace, const struct ml_cost_group *group,
                     const struct ml_style *style, struct ml_buf *out)
{
    struct ml_stack_view view = {0};
    char sum[96];
    int r = ml_report_heading(out, style, "%s", sum_text(group, style, sum));

    if (r == 0 && group->stack == 0)
        r = ml_buf_puts(out, "  (no stack)\n");
    else if (r == 0)
        r = ml_stack_view(trace, group->stack, &view);
    if (r == 0)
        r = ml_stack_text(&view, "  ", FRAMES_SHOWN, style, out);
    ml_stack_view_release(&view);
    return r;
}

static int put_heading(const struct ml_cost_report *c, const struct ml_style *style,
                       struct ml_buf *out)
{
    size_t groups = c->groups.len + c->rest_count;
    char sum[96];
    int r;

    if (c->total.leaked_blocks == 0)
        r = ml_report_heading(out, style, "Everything was freed");
    else
        r = ml_report_heading(out, style, "%s never freed, from %zu stack%s",
                              sum_text(&c->total, style, sum), groups, groups == 1 ? "" : "s");
    if (r == 0 && c->left_out.leaked_blocks > 0)
        r = ml_buf_printf(out, "Suppressed: %s, from %zu stack%s.\n",
                          sum_text(&c->left_out, style, sum), c->left_out_count,
                          c->left_out_count == 1 ? "" : "s");
    return r;
}

int ml_never_freed_text(const struct ml_trace *trace, const struct ml_cost_report *report,
                        const char *file, const struct ml_style *style, struct ml_buf *out)
{
    const struct ml_snapshot *at = &report->at;
    char sum[96];
    int r = ml_health_text(&at->instant.health, NULL, style, out);

    if (r == 0)
        r = ml_report_origin(out, at->command ? at->command : file, at->start_wall_ns, at->host);
    if (r == 0)
        r = ml_buf_puts(out, "\n");
    if (r == 0)
        r = put_heading(report, style, out);
    for (size_t i = 0; r == 0 && i < report->groups.len; i++)
        r = put_group(trace, &report->groups.items[i], style, out);
    if (r == 0 && report->rest_count > 0)
        r = ml_report_heading(out, style, "%s from %zu more", sum_text(&report->rest, style, sum),
                              report->rest_count);
    return r;
}

/* ---- JSON -------------------------------------------------------------- */

static void sum_json(struct ml_json *json, const struct ml_cost_group *group)
{
    ml_json_kv_u64(json, "bytes", group->figures[ML_COST_LEAKED]);
    ml_json_kv_u64(json, "blocks", group->leaked_blocks);
}

static int group_json(const struct ml_trace *trace, const struct ml_cost_group *group,
                      struct ml_json *json)
{
    struct ml_stack_view view = {0};
    int r = group->stack ? ml_stack_view(trace, group->stack, &view) : 0;

    ml_json_begin_object(json);
    sum_json(json, group);
    if (r == 0 && view.frames.len > 0)
        ml_stack_json(&view, json);
    else
        ml_json_kv_null(json, "stack");
    ml_json_end_object(json);
    ml_stack_view_release(&view);
    return r;
}

static void count_json(struct ml_json *json, const char *key, size_t groups,
                       const struct ml_cost_group *group)
{
    ml_json_key(json, key);
    ml_json_begin_object(json);
    ml_json_kv_u64(json, "groups", groups);
    sum_json(json, group);
    ml_json_end_object(json);
}

int ml_never_freed_json(const struct ml_trace *trace, const struct ml_cost_report *report,
                        const char *file, struct ml_buf *out)
{
    const struct ml_snapshot *at = &report->at;
    struct ml_json json;
    int r = 0;

    ml_json_init(&json, out, true);
    ml_json_begin_object(&json);
    ml_json_kv_cstr(&json, "file", file);
    ml_json_kv_cstr(&json, "command", at->command);
    ml_json_kv_cstr(&json, "host", at->host);
    ml_json_kv_u64(&json, "start_wall_ns", at->start_wall_ns);
    ml_json_kv_u64(&json, "lost", at->instant.health.lost);
    ml_health_json(&at->instant.health, &json);
    ml_json_kv_cstr(&json, "device", at->device);
    count_json(&json, "never_freed", report->groups.len + report->rest_count, &report->total);
    count_json(&json, "suppressed", report->left_out_count, &report->left_out);
    ml_json_key(&json, "groups");
    ml_json_begin_array(&json);
    for (size_t i = 0; r == 0 && i < report->groups.len; i++)
        r = group_json(trace, &report->groups.items[i], &json);
    ml_json_end_array(&json);
    count_json(&json, "rest", report->rest_count, &report->rest);
    ml_json_end_object(&json);
    return r < 0 ? r : ml_json_finish(&json);
}
