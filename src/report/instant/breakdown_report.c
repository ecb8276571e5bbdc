/* breakdown_report.c: see breakdown_report.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "breakdown_report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cells.h"
#include "csv.h"
#include "snapshot_report.h"
#include "stack_report.h"

/* ---- Text -------------------------------------------------------------- */

static void figures(struct ml_table *t, const struct ml_style *style,
                    const struct ml_breakdown_group *group)
{
    ml_cells_bytes(t, style, group->bytes);
    ml_cells_percent(t, group->percent);
    ml_cells_count(t, group->blocks);
}

/* Frames with C++ names in words. */
static void stack_cell(struct ml_table *t, const char *name)
{
    struct ml_buf text;
    int r = 0;

    ml_buf_init(&text);
    while (r == 0 && name) {
        const char *next = strstr(name, ML_TABLE_BETWEEN);
        size_t len = next ? (size_t)(next - name) : strlen(name);
        char *frame = strndup(name, len);

        r = frame ? ml_demangle(frame, &text) : -ENOMEM;
        free(frame);
        if (r == 0 && next)
            r = ml_buf_puts(&text, ML_TABLE_BETWEEN);
        name = next ? next + strlen(ML_TABLE_BETWEEN) : NULL;
    }
    ml_table_cell(t, r == 0 ? (const char *)text.data : "?");
    ml_buf_release(&text);
}

void ml_key_cell(struct ml_table *t, enum ml_key key, const char *name)
{
    if (name[0] && (key == ML_KEY_STACK || key == ML_KEY_FUNCTION))
        stack_cell(t, name);
    else if (name[0])
        ml_table_cell(t, name);
    else
        ml_table_cellf(t, "(no %s)", ml_key_name(key));
}

static void group_row(struct ml_table *t, const struct ml_breakdown *b,
                      const struct ml_style *style, const struct ml_breakdown_group *group)
{
    figures(t, style, group);
    for (size_t i = 0; i < b->by_count; i++)
        ml_key_cell(t, b->by[i], group->names[i]);
}

static void rest_row(struct ml_table *t, const struct ml_breakdown *b, const struct ml_style *style)
{
    if (b->rest_count == 0)
        return;
    figures(t, style, &b->rest);
    ml_table_cellf(t, "(%zu more)", b->rest_count);
    for (size_t i = 1; i < b->by_count; i++)
        ml_table_cell(t, "");
}

static void total_row(struct ml_table *t, const struct ml_breakdown *b,
                      const struct ml_style *style)
{
    char bytes[32], blocks[32];
    const char *const cells[] = {ml_format_bytes(bytes, (int64_t)b->at.bytes, style->unit),
                                 "100.0 %", ml_format_count(blocks, (int64_t)b->at.blocks)};

    ml_cells_sum(t, cells, ML_ARRAY_SIZE(cells));
}

void ml_key_column(struct ml_table *table, enum ml_key key)
{
    bool in_parts = key == ML_KEY_STACK || key == ML_KEY_FUNCTION;
    bool is_place = key == ML_KEY_LINE || key == ML_KEY_FILE || key == ML_KEY_LIBRARY;
    enum ml_align align = in_parts ? ML_PARTS : is_place ? ML_PLACE : ML_LEFT;

    ml_table_column(table, ml_key_name(key), align);
}

int ml_breakdown_text(const struct ml_breakdown *breakdown, const char *file,
                      const struct ml_style *style, struct ml_buf *out)
{
    static const char *const titles[] = {">bytes", ">share", ">blocks"};
    struct ml_table t;
    int r = ml_snapshot_text(&breakdown->at, file, style, out);

    if (r < 0 || breakdown->at.blocks == 0)
        return r;
    ml_cells_columns(&t, titles, ML_ARRAY_SIZE(titles));
    for (size_t i = 0; i < breakdown->by_count; i++)
        ml_key_column(&t, breakdown->by[i]);
    for (size_t i = 0; i < breakdown->groups.len; i++)
        group_row(&t, breakdown, style, &breakdown->groups.items[i]);
    rest_row(&t, breakdown, style);
    total_row(&t, breakdown, style);
    r = ml_cells_print(&t, r, out, style);
    if (r == 0 && breakdown->no_lines)
        r = ml_buf_printf(out, "No block has a line: %s.\n",
                          ml_stackless_text(breakdown->stackless));
    return r;
}

/* ---- JSON -------------------------------------------------------------- */

static void figures_json(struct ml_json *json, const struct ml_breakdown_group *group)
{
    ml_json_kv_u64(json, "bytes", group->bytes);
    ml_json_kv_double(json, "percent", group->percent);
    ml_json_kv_u64(json, "blocks", group->blocks);
}

static void group_json(struct ml_json *json, const struct ml_breakdown *b,
                       const struct ml_breakdown_group *group)
{
    ml_json_begin_object(json);
    figures_json(json, group);
    for (size_t i = 0; i < b->by_count; i++)
        ml_json_kv_cstr(json, ml_key_name(b->by[i]), group->names[i][0] ? group->names[i] : NULL);
    ml_json_end_object(json);
}

int ml_breakdown_json(const struct ml_breakdown *breakdown, const char *file, struct ml_buf *out)
{
    struct ml_json json;

    ml_json_init(&json, out, true);
    ml_json_begin_object(&json);
    ml_snapshot_json(&breakdown->at, file, &json);
    ml_json_key(&json, "by");
    ml_json_begin_array(&json);
    for (size_t i = 0; i < breakdown->by_count; i++)
        ml_json_cstr(&json, ml_key_name(breakdown->by[i]));
    ml_json_end_array(&json);
    ml_json_key(&json, "groups");
    ml_json_begin_array(&json);
    for (size_t i = 0; i < breakdown->groups.len; i++)
        group_json(&json, breakdown, &breakdown->groups.items[i]);
    ml_json_end_array(&json);
    ml_json_key(&json, "rest");
    ml_json_begin_object(&json);
    ml_json_kv_u64(&json, "groups", breakdown->rest_count);
    figures_json(&json, &breakdown->rest);
    ml_json_end_object(&json);
    ml_json_end_object(&json);
    return ml_json_finish(&json);
}

/* ---- CSV --------------------------------------------------------------- */

static int group_csv(const struct ml_breakdown *b, const struct ml_breakdown_group *group,
                     bool safe, struct ml_buf *out)
{
    int r = ml_csv_u64(out, group->bytes);

    if (r == 0)
        r = ml_csv_u64(out, group->blocks);
    for (size_t i = 0; i < b->by_count && r == 0; i++)
        r = ml_csv_name(out, group->names[i], safe);
    return r < 0 ? r : ml_csv_end(out);
}

int ml_breakdown_csv(const struct ml_breakdown *breakdown, bool safe, struct ml_buf *out)
{
    int r = ml_csv_text(out, "bytes");

    if (r == 0)
        r = ml_csv_text(out, "blocks");
    for (size_t i = 0; i < breakdown->by_count && r == 0; i++)
        r = ml_csv_text(out, ml_key_name(breakdown->by[i]));
    if (r == 0)
        r = ml_csv_end(out);
    for (size_t i = 0; i < breakdown->groups.len && r == 0; i++)
        r = group_csv(breakdown, &breakdown->groups.items[i], safe, out);
    return r;
}
