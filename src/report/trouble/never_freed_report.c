/* never_freed_report.c: see never_freed_report.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "never_freed_report.h"

#include <stdio.h>

#include "json.h"
#include "snapshot_report.h"
#include "stack_report.h"

#define FRAMES_SHOWN 12

/* ---- Text -------------------------------------------------------------- */

/* In the order of enum ml_reach; as keys of JSON, with underscores. */
static const char *const reach_words[ML_REACHES] = {"not searched for", "definitely lost",
                                                    "indirectly lost", "still reachable"};
static const char *const reach_keys[ML_REACHES] = {"unknown", "definitely_lost", "indirectly_lost",
                                                   "reachable"};
/* The order in which they are shown. */
static const enum ml_reach reach_order[ML_REACHES] = {ML_REACH_DEFINITE, ML_REACH_INDIRECT,
                                                      ML_REACH_REACHABLE, ML_REACH_UNKNOWN};
/* By enum ml_reach_outcome; as words, and in JSON. */
static const char *const outcome_words[] = {NULL, "its copy could not be read",
                                            "the search took more than a minute"};
static const char *const outcome_keys[] = {"searched", "unreadable", "too_long"};

/* "80.8 KiB in 2 blocks" */
static const char *amount_text(uint64_t bytes, uint64_t blocks, const struct ml_style *style,
                               char buf[96])
{
    char count[32];

    snprintf(buf, 96, "%s in %s block%s", ml_report_size(style, bytes).text,
             ml_format_count(count, (int64_t)blocks), blocks == 1 ? "" : "s");
    return buf;
}

static const char *sum_text(const struct ml_cost_group *group, const struct ml_style *style,
                            char buf[96])
{
    return amount_text(group->figures[ML_COST_LEAKED], group->leaked_blocks, style, buf);
}

/* One line for each sort of reach that the group has. */
static int put_reach(const struct ml_cost_group *group, const struct ml_style *style,
                     struct ml_buf *out)
{
    char sum[96];
    int r = 0;

    for (int i = 0; r == 0 && i < ML_REACHES; i++) {
        enum ml_reach reach = reach_order[i];

        if (group->reach_blocks[reach] > 0)
            r = ml_buf_printf(
                out, "%s: %s\n", reach_words[reach],
                amount_text(group->reach_bytes[reach], group->reach_blocks[reach], style, sum));
    }
    return r;
}

static int put_outcomes(const struct ml_trace *trace, const struct ml_reach_book *book,
                        struct ml_buf *out)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < book->processes.len; i++) {
        const struct ml_reach_process *process = &book->processes.items[i];

        if (process->outcome != ML_REACH_SEARCHED)
            r = ml_buf_printf(out, "Process %u was not searched: %s.\n",
                              ml_trace_process(trace, process->number)->pid,
                              outcome_words[process->outcome]);
    }
    return r;
}

/* The sort of reach of all blocks of the group; NULL: several, or nothing was searched. */
static const char *only_reach(const struct ml_cost_group *group, bool searched)
{
    for (int i = 0; searched && i < ML_REACHES; i++)
        if (group->reach_blocks[i] == group->leaked_blocks)
            return reach_words[i];
    return NULL;
}

static int put_group(const struct ml_trace *trace, const struct ml_cost_group *group, bool searched,
                     const struct ml_style *style, struct ml_buf *out)
{
    const char *only = only_reach(group, searched);
    struct ml_stack_view view = {0};
    char sum[96];
    int r = ml_report_heading(out, style, "%s%s%s", sum_text(group, style, sum), only ? " " : "",
                              only ? only : "");

    if (r == 0 && searched && !only)
        r = put_reach(group, style, out);
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
    if (r == 0 && c->reach.is_there)
        r = put_reach(&c->total, style, out);
    return r;
}

int ml_never_freed_text(const struct ml_trace *trace, const struct ml_cost_report *report,
                        const char *file, const struct ml_style *style, struct ml_buf *out)
{
    char sum[96];
    int r = ml_snapshot_origin_text(&report->at, file, style, out);

    if (r == 0)
        r = put_heading(report, style, out);
    if (r == 0)
        r = put_outcomes(trace, &report->reach, out);
    for (size_t i = 0; r == 0 && i < report->groups.len; i++)
        r = put_group(trace, &report->groups.items[i], report->reach.is_there, style, out);
    if (r == 0 && report->rest_count > 0)
        r = ml_report_heading(out, style, "%s from %zu more", sum_text(&report->rest, style, sum),
                              report->rest_count);
    return r;
}

/* ---- JSON -------------------------------------------------------------- */

static void sum_json(struct ml_json *json, const struct ml_cost_group *group, bool searched)
{
    ml_json_kv_u64(json, "bytes", group->figures[ML_COST_LEAKED]);
    ml_json_kv_u64(json, "blocks", group->leaked_blocks);
    for (int i = 0; searched && i < ML_REACHES; i++) {
        enum ml_reach reach = reach_order[i];

        ml_json_key(json, reach_keys[reach]);
        ml_json_begin_object(json);
        ml_json_kv_u64(json, "bytes", group->reach_bytes[reach]);
        ml_json_kv_u64(json, "blocks", group->reach_blocks[reach]);
        ml_json_end_object(json);
    }
}

static void searched_json(const struct ml_trace *trace, const struct ml_reach_book *book,
                          struct ml_json *json)
{
    ml_json_key(json, "searched");
    ml_json_begin_array(json);
    for (size_t i = 0; i < book->processes.len; i++) {
        const struct ml_reach_process *process = &book->processes.items[i];

        ml_json_begin_object(json);
        ml_json_kv_u64(json, "pid", ml_trace_process(trace, process->number)->pid);
        ml_json_kv_cstr(json, "outcome", outcome_keys[process->outcome]);
        ml_json_kv_u64(json, "searched_bytes", process->searched_bytes);
        ml_json_end_object(json);
    }
    ml_json_end_array(json);
}

static int group_json(const struct ml_trace *trace, const struct ml_cost_group *group,
                      bool searched, struct ml_json *json)
{
    struct ml_stack_view view = {0};
    int r = group->stack ? ml_stack_view(trace, group->stack, &view) : 0;

    ml_json_begin_object(json);
    sum_json(json, group, searched);
    if (r == 0 && view.frames.len > 0)
        ml_stack_json(&view, json);
    else
        ml_json_kv_null(json, "stack");
    ml_json_end_object(json);
    ml_stack_view_release(&view);
    return r;
}

static void count_json(struct ml_json *json, const char *key, size_t groups,
                       const struct ml_cost_group *group, bool searched)
{
    ml_json_key(json, key);
    ml_json_begin_object(json);
    ml_json_kv_u64(json, "groups", groups);
    sum_json(json, group, searched);
    ml_json_end_object(json);
}

int ml_never_freed_json(const struct ml_trace *trace, const struct ml_cost_report *report,
                        const char *file, struct ml_buf *out)
{
    const struct ml_snapshot *at = &report->at;
    bool searched = report->reach.is_there;
    struct ml_json json;
    int r = 0;

    ml_json_init(&json, out, true);
    ml_json_begin_object(&json);
    ml_snapshot_origin_json(at, file, &json);
    ml_json_kv_cstr(&json, "device", at->device);
    if (searched)
        searched_json(trace, &report->reach, &json);
    count_json(&json, "never_freed", report->groups.len + report->rest_count, &report->total,
               searched);
    count_json(&json, "suppressed", report->left_out_count, &report->left_out, searched);
    ml_json_key(&json, "groups");
    ml_json_begin_array(&json);
    for (size_t i = 0; r == 0 && i < report->groups.len; i++)
        r = group_json(trace, &report->groups.items[i], searched, &json);
    ml_json_end_array(&json);
    count_json(&json, "rest", report->rest_count, &report->rest, searched);
    ml_json_end_object(&json);
    return r < 0 ? r : ml_json_finish(&json);
}
