/* costs_report.c: the table of costs_report.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "costs_report.h"

#include <stdio.h>

#include "breakdown_report.h"
#include "cells.h"
#include "csv.h"
#include "health_report.h"
#include "snapshot_report.h"
#include "temporary_report.h"

/* ---- Text -------------------------------------------------------------- */

const char *ml_cost_phrase(enum ml_cost cost)
{
    static const char *const phrases[] = {"live bytes", "bytes never freed", "bytes allocated",
                                          "temporary bytes", "number of allocations"};

    return phrases[cost];
}

static bool is_estimated(const struct ml_cost_report *c)
{
    return c->total.is_sampled;
}

static int put_totals(const struct ml_cost_report *c, const struct ml_style *style,
                      struct ml_buf *out)
{
    const uint64_t *total = c->total.figures;
    char words[96], calls[32], when[128];
    int r = ml_report_heading(out, style, "%s allocated in %s calls%s%s",
                              ml_report_size(style, total[ML_COST_ALLOCATED]).text,
                              ml_format_count(calls, (int64_t)total[ML_COST_CALLS]),
                              c->at.device ? " on " : "", c->at.device ? c->at.device : "");

    if (r == 0)
        r = ml_buf_printf(out, "%s live%s, %s never freed.\n",
                          ml_report_size(style, total[ML_COST_LIVE]).text,
                          ml_instant_phrase(&c->at.instant, when),
                          ml_report_size(style, total[ML_COST_LEAKED]).text);
    if (r == 0 && is_estimated(c) && !c->limit.by_time)
        return ml_buf_puts(out, "Temporary blocks are not known: malloc was sampled. "
                                "--within TIME finds short-lived ones.\n");
    if (r == 0)
        r = ml_buf_printf(out, "%s temporary: %s.\n",
                          ml_report_size(style, total[ML_COST_TEMPORARY]).text,
                          ml_temporary_limit_words(&c->limit, words));
    return r;
}

int ml_costs_heading(const struct ml_cost_report *report, const char *file,
                     const struct ml_style *style, struct ml_buf *out)
{
    int r = ml_snapshot_origin_text(&report->at, file, style, out);

    return r < 0 ? r : put_totals(report, style, out);
}

/* The standard error of a figure, in percent of it. */
static double error_percent(const struct ml_cost_report *c, const struct ml_cost_group *group,
                            enum ml_cost cost)
{
    uint64_t figure = group->figures[cost];

    return figure ? 100 * ml_cost_error(c, group, cost) / (double)figure : 0;
}

static void figures(struct ml_table *t, const struct ml_style *style,
                    const struct ml_cost_report *c, const struct ml_cost_group *group)
{
    for (int i = 0; i < ML_COSTS; i++)
        if (ml_cost_is_bytes((enum ml_cost)i))
            ml_cells_bytes(t, style, group->figures[i]);
        else
            ml_cells_count(t, group->figures[i]);
    ml_cells_percent(t, ml_cost_percent(c, group));
    if (is_estimated(c))
        ml_table_cellf(t, "± %.*g %%", ml_error_digits(error_percent(c, group, c->of)),
                       error_percent(c, group, c->of));
}

static void rest_row(struct ml_table *t, const struct ml_cost_report *c,
                     const struct ml_style *style)
{
    if (c->rest_count == 0)
        return;
    figures(t, style, c, &c->rest);
    ml_table_cellf(t, "(%zu more)", c->rest_count);
    for (size_t i = 1; i < c->by_count; i++)
        ml_table_cell(t, "");
}

static const char *title_of(const struct ml_cost_report *c, enum ml_cost cost)
{
    return cost == ML_COST_LIVE && c->at.instant.at.kind != ML_AT_PEAK ? "live"
                                                                       : ml_cost_words[cost];
}

static void columns(struct ml_table *t, const struct ml_cost_report *c)
{
    char titles[ML_COSTS + 1][32];
    const char *list[ML_COSTS + 2];

    for (int i = 0; i <= ML_COSTS; i++) {
        snprintf(titles[i], sizeof(titles[i]), i < ML_COSTS ? ">%s" : ">of %s",
                 title_of(c, i < ML_COSTS ? (enum ml_cost)i : c->of));
        list[i] = titles[i];
    }
    list[ML_COSTS + 1] = ">error";
    ml_cells_columns(t, list, ML_COSTS + 1 + is_estimated(c));
    for (size_t i = 0; i < c->by_count; i++)
        ml_key_column(t, c->by[i]);
}

int ml_costs_text(const struct ml_cost_report *report, const char *file,
                  const struct ml_style *style, struct ml_buf *out)
{
    struct ml_table t;
    int r = ml_costs_heading(report, file, style, out);

    if (r < 0 || report->groups.len == 0)
        return r;
    columns(&t, report);
    for (size_t i = 0; i < report->groups.len; i++) {
        figures(&t, style, report, &report->groups.items[i]);
        for (size_t k = 0; k < report->by_count; k++)
            ml_key_cell(&t, report->by[k], report->groups.items[i].names[k]);
    }
    rest_row(&t, report, style);
    return ml_cells_print(&t, r, out, style);
}

/* ---- JSON -------------------------------------------------------------- */

static const char *const keys[] = {
    [ML_COST_LIVE] = "peak_bytes",
    [ML_COST_LEAKED] = "leaked_bytes",
    [ML_COST_ALLOCATED] = "allocated_bytes",
    [ML_COST_TEMPORARY] = "temporary_bytes",
    [ML_COST_CALLS] = "calls",
};

/* Only of estimates. */
static void errors_json(struct ml_json *json, const struct ml_cost_report *c,
                        const struct ml_cost_group *group)
{
    if (!group->is_sampled)
        return;
    ml_json_key(json, "standard_error");
    ml_json_begin_object(json);
    for (int i = 0; i < ML_COSTS; i++)
        if (i != ML_COST_TEMPORARY || c->limit.by_time) /* otherwise it is not known */
            ml_json_kv_u64(json, keys[i], (uint64_t)ml_cost_error(c, group, (enum ml_cost)i));
    ml_json_end_object(json);
}

static void figures_json(struct ml_json *json, const struct ml_cost_report *c,
                         const struct ml_cost_group *group)
{
    ml_json_kv_u64(json, keys[ML_COST_LIVE], group->figures[ML_COST_LIVE]);
    ml_json_kv_u64(json, "peak_blocks", group->live_blocks);
    ml_json_kv_u64(json, keys[ML_COST_LEAKED], group->figures[ML_COST_LEAKED]);
    ml_json_kv_u64(json, "leaked_blocks", group->leaked_blocks);
    ml_json_kv_u64(json, keys[ML_COST_ALLOCATED], group->figures[ML_COST_ALLOCATED]);
    ml_json_kv_u64(json, keys[ML_COST_CALLS], group->figures[ML_COST_CALLS]);
    ml_json_kv_u64(json, keys[ML_COST_TEMPORARY], group->figures[ML_COST_TEMPORARY]);
    ml_json_kv_u64(json, "temporary_calls", group->temporary_calls);
    errors_json(json, c, group);
}

void ml_costs_head_json(const struct ml_cost_report *report, const char *file, struct ml_json *json)
{
    const struct ml_temporary_limit *limit = &report->limit;

    ml_snapshot_json(&report->at, file, json);
    ml_json_kv_cstr(json, "of", ml_cost_words[report->of]);
    ml_json_kv_u64(json, limit->by_time ? "within_ns" : "within_allocations",
                   limit->by_time ? limit->ns : limit->allocations);
    ml_json_key(json, "total");
    ml_json_begin_object(json);
    figures_json(json, report, &report->total);
    ml_json_end_object(json);
}

static void group_json(struct ml_json *json, const struct ml_cost_report *c,
                       const struct ml_cost_group *group)
{
    ml_json_begin_object(json);
    figures_json(json, c, group);
    ml_json_kv_double(json, "percent", ml_cost_percent(c, group));
    for (size_t k = 0; k < c->by_count; k++)
        ml_json_kv_cstr(json, ml_key_name(c->by[k]), group->names[k][0] ? group->names[k] : NULL);
    ml_json_end_object(json);
}

int ml_costs_json(const struct ml_cost_report *report, const char *file, struct ml_buf *out)
{
    struct ml_json json;

    ml_json_init(&json, out, true);
    ml_json_begin_object(&json);
    ml_costs_head_json(report, file, &json);
    ml_json_key(&json, "by");
    ml_json_begin_array(&json);
    for (size_t i = 0; i < report->by_count; i++)
        ml_json_cstr(&json, ml_key_name(report->by[i]));
    ml_json_end_array(&json);
    ml_json_key(&json, "groups");
    ml_json_begin_array(&json);
    for (size_t i = 0; i < report->groups.len; i++)
        group_json(&json, report, &report->groups.items[i]);
    ml_json_end_array(&json);
    ml_json_key(&json, "rest");
    ml_json_begin_object(&json);
    ml_json_kv_u64(&json, "groups", report->rest_count);
    figures_json(&json, report, &report->rest);
    ml_json_end_object(&json);
    ml_json_end_object(&json);
    return ml_json_finish(&json);
}

/* ---- CSV --------------------------------------------------------------- */

int ml_costs_csv(const struct ml_cost_report *report, bool safe, struct ml_buf *out)
{
    static const char *const titles[] = {"peak_bytes", "leaked_bytes", "allocated_bytes",
                                         "temporary_bytes", "calls"};
    int r = 0;

    for (size_t i = 0; i < ML_ARRAY_SIZE(titles) && r == 0; i++)
        r = ml_csv_text(out, titles[i]);
    for (size_t i = 0; i < report->by_count && r == 0; i++)
        r = ml_csv_text(out, ml_key_name(report->by[i]));
    if (r == 0)
        r = ml_csv_end(out);
    for (size_t i = 0; i < report->groups.len && r == 0; i++) {
        const struct ml_cost_group *group = &report->groups.items[i];

        for (int k = 0; k < ML_COSTS && r == 0; k++)
            r = ml_csv_u64(out, group->figures[k]);
        for (size_t k = 0; k < report->by_count && r == 0; k++)
            r = ml_csv_name(out, group->names[k], safe);
        if (r == 0)
            r = ml_csv_end(out);
    }
    return r;
}
