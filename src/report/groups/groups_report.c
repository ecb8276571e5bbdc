/* groups_report.c: see groups_report.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "groups_report.h"

#include <inttypes.h>

#include "cells.h"
#include "paragraph.h"
#include "snapshot_report.h"

#define CLASHES_SHOWN 5

/* ---- Text -------------------------------------------------------------- */

static int gross_text(const struct ml_tag_list *list, const char *file,
                      const struct ml_style *style, struct ml_buf *out)
{
    char bytes[32], count[32];
    int r = ml_report_origin(out, list->at.command ? list->at.command : file,
                             list->at.start_wall_ns, list->at.host);

    if (r == 0)
        r = ml_buf_puts(out, "\n");
    return r < 0 ? r
                 : ml_report_heading(out, style, "%s in %s allocation%s over the whole run",
                                     ml_format_bytes(bytes, (int64_t)list->bytes, style->unit),
                                     ml_format_count(count, (int64_t)list->list.len),
                                     list->list.len == 1 ? "" : "s");
}

int ml_groups_head_text(const struct ml_tag_list *list, const char *file,
                        const struct ml_style *style, struct ml_buf *out)
{
    bool is_told = !list->devices || (!list->gross && list->at.device);
    int r = list->gross ? gross_text(list, file, style, out)
                        : ml_snapshot_text(&list->at, file, style, out);

    if (r < 0 || is_told)
        return r;
    r = ml_buf_puts(out, "Of ");
    if (r == 0)
        r = ml_report_safe(out, list->devices);
    return r < 0 ? r : ml_buf_puts(out, ".\n");
}

static int keywords_text(const struct ml_group_clash *clash, struct ml_buf *out)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < clash->match_count; i++)
        r = ml_buf_printf(out, "%s%s", i ? ", " : "", clash->matches[i].keyword);
    return r;
}

static int clash_text(const struct ml_group_clash *clash, const struct ml_style *style,
                      struct ml_buf *out)
{
    struct ml_buf keywords = {0};
    int r = keywords_text(clash, &keywords);

    if (r == 0)
        r = ml_report_warning(out, style,
                              "Tag %s is considered match for multiple entries (%s) in the "
                              "keyword dictionary.",
                              clash->tag, (const char *)keywords.data);
    ml_buf_release(&keywords);
    return r;
}

static int clashes_text(const struct ml_grouping *g, const struct ml_style *style,
                        struct ml_buf *out)
{
    size_t more = g->clashes.len > CLASHES_SHOWN ? g->clashes.len - CLASHES_SHOWN : 0;
    int r = 0;

    for (size_t i = 0; r == 0 && i < g->clashes.len && i < CLASHES_SHOWN; i++)
        r = clash_text(&g->clashes.items[i], style, out);
    if (r == 0 && more)
        r = ml_report_warning(out, style, "%zu more tag%s several; --json lists them all.", more,
                              more == 1 ? " matches" : "s match");
    return r;
}

static void bytes_cell(struct ml_table *t, const struct ml_style *style, int64_t bytes)
{
    char text[32];

    ml_table_cell(t, ml_format_bytes(text, bytes, style->unit));
}

static int groups_table(const struct ml_grouping *g, const struct ml_style *style,
                        struct ml_buf *out)
{
    static const char *const titles[] = {">bytes", ">share", ">count", "category"};
    uint64_t whole = g->has_expected ? g->expected_bytes : g->total_bytes;
    char bytes[32], count[32];
    const char *const total[] = {ml_format_bytes(bytes, (int64_t)whole, style->unit),
                                 whole ? "100.0 %" : "", /* a total of 0 has no shares */
                                 ml_format_count(count, (int64_t)g->total_count)};
    struct ml_table t;

    ml_cells_columns(&t, titles, ML_ARRAY_SIZE(titles));
    for (size_t i = 0; i < g->groups.len; i++) {
        const struct ml_group *group = &g->groups.items[i];

        bytes_cell(&t, style, group->bytes);
        ml_cells_percent(&t, group->percent);
        if (group->is_untrackable)
            ml_table_cell(&t, "");
        else
            ml_cells_count(&t, group->count);
        ml_table_cell(&t, group->name);
    }
    ml_cells_sum(&t, total, ML_ARRAY_SIZE(total));
    return ml_cells_print(&t, 0, out, style);
}

static int entries_table(const struct ml_group *group, const struct ml_style *style,
                         struct ml_buf *out)
{
    static const char *const titles[] = {">bytes", ">count", "tag"};
    struct ml_table t;
    int r = ml_report_heading(out, style, "%s", group->name);

    ml_cells_columns(&t, titles, ML_ARRAY_SIZE(titles));
    for (size_t i = 0; i < group->entries.len; i++) {
        const struct ml_group_entry *e = &group->entries.items[i];

        ml_cells_bytes(&t, style, e->bytes);
        ml_cells_count(&t, e->count);
        ml_table_cell(&t, e->tag);
    }
    if (group->rest_entries > 0) {
        ml_cells_bytes(&t, style, group->rest_bytes);
        ml_table_cell(&t, "");
        ml_table_cellf(&t, "(%" PRIu64 " more)", group->rest_entries);
    }
    return ml_cells_print(&t, r, out, style);
}

int ml_groups_text(const struct ml_grouping *grouping, const struct ml_style *style,
                   struct ml_buf *out)
{
    int r = ml_report_heading(out, style, "By %s (%s)", grouping->dictionary,
                              grouping->match == ML_MATCH_ALL ? "every keyword that matches"
                                                              : "the first keyword that matches");

    if (r == 0 && grouping->groups.len == 0)
        return ml_buf_puts(out, "No allocations to categorize.\n");
    if (r == 0)
        r = clashes_text(grouping, style, out);
    if (r == 0)
        r = groups_table(grouping, style, out);
    for (size_t i = 0; r == 0 && i < grouping->groups.len; i++)
        if (grouping->groups.items[i].entries.len > 0)
            r = entries_table(&grouping->groups.items[i], style, out);
    return r;
}

/* ---- JSON -------------------------------------------------------------- */

void ml_groups_head_json(const struct ml_tag_list *list, const char *file, struct ml_json *json)
{
    ml_json_kv_bool(json, "gross", list->gross);
    if (!list->gross) {
        ml_snapshot_json(&list->at, file, json);
        return;
    }
    ml_json_kv_cstr(json, "file", file);
    ml_json_kv_cstr(json, "command", list->at.command);
    ml_json_kv_cstr(json, "host", list->at.host);
    ml_json_kv_u64(json, "start_wall_ns", list->at.start_wall_ns);
    ml_json_kv_u64(json, "bytes", list->bytes);
    ml_json_kv_u64(json, "allocations", list->list.len);
}

static void entries_json(const struct ml_group *group, struct ml_json *json)
{
    ml_json_key(json, "entries");
    ml_json_begin_array(json);
    for (size_t i = 0; i < group->entries.len; i++) {
        ml_json_begin_object(json);
        ml_json_kv_cstr(json, "tag", group->entries.items[i].tag);
        ml_json_kv_u64(json, "bytes", group->entries.items[i].bytes);
        ml_json_kv_u64(json, "count", group->entries.items[i].count);
        ml_json_end_object(json);
    }
    ml_json_end_array(json);
    ml_json_key(json, "rest");
    ml_json_begin_object(json);
    ml_json_kv_u64(json, "entries", group->rest_entries);
    ml_json_kv_u64(json, "bytes", group->rest_bytes);
    ml_json_end_object(json);
}

static void group_json(const struct ml_group *group, struct ml_json *json)
{
    ml_json_begin_object(json);
    ml_json_kv_cstr(json, "category", group->name);
    ml_json_kv_cstr(json, "kind",
                    group->is_others        ? "others"
                    : group->is_untrackable ? "untrackable"
                                            : "category");
    ml_json_kv_i64(json, "bytes", group->bytes);
    ml_json_kv_double(json, "percent", group->percent);
    ml_json_kv_u64(json, "count", group->count);
    entries_json(group, json);
    ml_json_end_object(json);
}

static void matches_json(const struct ml_group_clash *clash, struct ml_json *json)
{
    ml_json_key(json, "matches");
    ml_json_begin_array(json);
    for (size_t i = 0; i < clash->match_count; i++) {
        ml_json_begin_object(json);
        ml_json_kv_cstr(json, "keyword", clash->matches[i].keyword);
        ml_json_kv_cstr(json, "category", clash->matches[i].category);
        ml_json_end_object(json);
    }
    ml_json_end_array(json);
}

static void clashes_json(const struct ml_grouping *g, struct ml_json *json)
{
    ml_json_key(json, "clashes");
    ml_json_begin_array(json);
    for (size_t i = 0; i < g->clashes.len; i++) {
        ml_json_begin_object(json);
        ml_json_kv_cstr(json, "tag", g->clashes.items[i].tag);
        matches_json(&g->clashes.items[i], json);
        ml_json_end_object(json);
    }
    ml_json_end_array(json);
}

void ml_groups_json(const struct ml_grouping *grouping, struct ml_json *json)
{
    ml_json_begin_object(json);
    ml_json_kv_cstr(json, "dictionary", grouping->dictionary);
    ml_json_kv_cstr(json, "match", grouping->match == ML_MATCH_ALL ? "all" : "first");
    ml_json_kv_u64(json, "total_bytes", grouping->total_bytes);
    if (grouping->has_expected)
        ml_json_kv_u64(json, "expected_bytes", grouping->expected_bytes);
    else
        ml_json_kv_null(json, "expected_bytes");
    ml_json_key(json, "groups");
    ml_json_begin_array(json);
    for (size_t i = 0; i < grouping->groups.len; i++)
        group_json(&grouping->groups.items[i], json);
    ml_json_end_array(json);
    clashes_json(grouping, json);
    ml_json_end_object(json);
}
