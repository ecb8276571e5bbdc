/* call_tree_report.c: the tree of costs_report.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>

#include "cells.h"
#include "costs_report.h"
#include "stack_report.h"
#include "text.h"

#define INDENT 2

/* ---- Text -------------------------------------------------------------- */

/* " (train.py:12)", " (libc.so.6)", or nothing. */
static int put_place(const struct ml_call_row *row, struct ml_buf *out)
{
    const char *path = row->file ? row->file : row->library;
    int r = path ? ml_buf_puts(out, " (") : 0;

    if (r == 0 && path)
        r = ml_report_safe(out, ml_base_name(path));
    if (r == 0 && row->file && row->line)
        r = ml_buf_printf(out, ":%" PRIu32, row->line);
    return r == 0 && path ? ml_buf_puts(out, ")") : r;
}

static int put_function(const struct ml_call_row *row, struct ml_buf *out)
{
    struct ml_buf name = {0};
    int r;

    if (row->folded)
        return ml_buf_printf(out, "(%zu smaller)", row->folded);
    if (row->no_stack)
        return ml_buf_puts(out, "(no stack)");
    r = ml_demangle(row->function, &name);
    if (r == 0)
        r = ml_report_safe(out, (const char *)name.data);
    if (r == 0)
        r = put_place(row, out);
    if (r == 0 && row->hidden)
        r = ml_buf_printf(out, "  +%zu", row->hidden);
    ml_buf_release(&name);
    return r;
}

static void figure_cell(struct ml_table *t, const struct ml_style *style, enum ml_cost of,
                        uint64_t figure)
{
    if (figure == 0)
        ml_table_cell(t, "");
    else if (ml_cost_is_bytes(of))
        ml_cells_bytes(t, style, figure);
    else
        ml_cells_count(t, figure);
}

static int row_cells(struct ml_table *t, const struct ml_call_row *row,
                     const struct ml_style *style, enum ml_cost of)
{
    struct ml_buf name = {0};
    int r = ml_buf_fill(&name, ' ', (row->depth - 1) * INDENT);

    if (r == 0)
        r = put_function(row, &name);
    figure_cell(t, style, of, row->figure);
    ml_cells_percent(t, row->percent);
    figure_cell(t, style, of, row->own);
    ml_table_cell(t, r == 0 ? (const char *)name.data : "");
    ml_buf_release(&name);
    return r;
}

int ml_call_tree_text(const struct ml_call_tree *tree, const char *file,
                      const struct ml_style *style, struct ml_buf *out)
{
    const char *const titles[] = {">total", ">share", tree->callers ? ">ends here" : ">own",
                                  tree->callers ? "function, then its callers"
                                                : "function, then those it calls"};
    struct ml_table t;
    int r = ml_costs_heading(&tree->costs, file, style, out);

    if (r == 0)
        r = ml_report_heading(out, style, "By %s: %s", tree->callers ? "callers" : "callees",
                              ml_cost_phrase(tree->costs.of));
    if (r < 0 || tree->rows.len == 0)
        return r;
    ml_cells_columns(&t, titles, ML_ARRAY_SIZE(titles));
    for (size_t i = 0; i < tree->rows.len && r == 0; i++)
        r = row_cells(&t, &tree->rows.items[i], style, tree->costs.of);
    return ml_cells_print(&t, r, out, style);
}

/* ---- JSON -------------------------------------------------------------- */

static void name_json(struct ml_json *json, const struct ml_call_row *row)
{
    struct ml_buf name = {0};

    if (row->function[0] && ml_demangle(row->function, &name) == 0)
        ml_json_kv_string(json, "function", (const char *)name.data, name.len);
    else
        ml_json_kv_null(json, "function");
    ml_buf_release(&name);
}

static void row_json(struct ml_json *json, const struct ml_call_row *row)
{
    ml_json_begin_object(json);
    ml_json_kv_u64(json, "depth", row->depth);
    name_json(json, row);
    ml_json_kv_cstr(json, "file", row->file);
    if (row->line)
        ml_json_kv_u64(json, "line", row->line);
    else
        ml_json_kv_null(json, "line");
    ml_json_kv_cstr(json, "library", row->library);
    ml_json_kv_u64(json, "functions", row->folded ? row->folded : row->no_stack ? 0 : 1);
    ml_json_kv_u64(json, "hidden_functions", row->hidden);
    ml_json_kv_u64(json, "figure", row->figure);
    ml_json_kv_double(json, "percent", row->percent);
    ml_json_kv_u64(json, "own", row->own);
    ml_json_end_object(json);
}

int ml_call_tree_json(const struct ml_call_tree *tree, const char *file, struct ml_buf *out)
{
    struct ml_json json;

    ml_json_init(&json, out, true);
    ml_json_begin_object(&json);
    ml_costs_head_json(&tree->costs, file, &json);
    ml_json_kv_cstr(&json, "by", tree->callers ? "callers" : "callees");
    ml_json_key(&json, "rows");
    ml_json_begin_array(&json);
    for (size_t i = 0; i < tree->rows.len; i++)
        row_json(&json, &tree->rows.items[i]);
    ml_json_end_array(&json);
    ml_json_end_object(&json);
    return ml_json_finish(&json);
}
