/* module_tree_report.c: the tree of module_tree_report.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "module_tree_report.h"

#include <stdio.h>
#include <string.h>

#include "category_columns.h"
#include "paragraph.h"
#include "snapshot_report.h"

#define INDENT 2
#define NAME_ROOM 32 /* columns that names get before categories are merged */
#define SHARE_ROOM 9 /* with the gap before it */
#define GAP 2
#define ALL_NAME "all"

/* ---- Text -------------------------------------------------------------- */

static int put_name(struct ml_buf *out, const struct ml_tree_row *row)
{
    int r = ml_buf_fill(out, ' ', row->depth * INDENT);

    if (r < 0)
        return r;
    if (row->folded)
        return ml_buf_printf(out, "(%zu smaller)", row->folded);
    if (row->no_module)
        return ml_buf_puts(out, "(no module)");
    r = ml_report_safe(out, row->name);
    if (r == 0 && row->class_name[0] && strcmp(row->class_name, row->name) != 0) {
        r = ml_buf_puts(out, "  ");
        if (r == 0)
            r = ml_report_safe(out, row->class_name);
    }
    if (r == 0 && row->hidden)
        r = ml_buf_printf(out, "  +%zu", row->hidden);
    return r;
}

static int name_cell(struct ml_table *t, const struct ml_tree_row *row)
{
    struct ml_buf name;
    int r;

    ml_buf_init(&name);
    r = put_name(&name, row);
    if (r == 0)
        ml_table_cell(t, (const char *)name.data);
    ml_buf_release(&name);
    return r;
}

static int widest_name(const struct ml_module_tree *tree, size_t *ret)
{
    struct ml_buf name;
    int r = 0;

    *ret = strlen(ALL_NAME);
    ml_buf_init(&name);
    for (size_t i = 0; i < tree->rows.len && r == 0; i++) {
        size_t width;

        ml_buf_clear(&name);
        r = put_name(&name, &tree->rows.items[i]);
        width = r < 0 ? 0 : ml_utf8_width((const char *)name.data, name.len);
        if (width > *ret)
            *ret = width;
    }
    ml_buf_release(&name);
    return r;
}

static size_t longer(size_t width, const char *text)
{
    size_t len = strlen(text);

    return len > width ? len : width;
}

/* The columns of total, share and own, with their gaps. */
static size_t room_of_fixed(const struct ml_module_tree *tree, const struct ml_style *style,
                            enum ml_unit unit)
{
    size_t total = strlen("total"), own = strlen("own");
    char text[32];

    total = longer(total, ml_format_bytes(text, (int64_t)tree->all.bytes, style->unit));
    for (size_t i = 0; i < tree->rows.len; i++) {
        const struct ml_tree_row *row = &tree->rows.items[i];

        total = longer(total, ml_format_bytes(text, (int64_t)row->all.bytes, style->unit));
        own = longer(own, ml_category_number(text, row->own.bytes, unit));
    }
    return GAP + total + SHARE_ROOM + GAP + own;
}

static int choose_columns(const struct ml_module_tree *tree, const struct ml_style *style,
                          struct ml_category_columns *ret)
{
    size_t name, taken;
    int r = widest_name(tree, &name);

    *ret = ml_category_columns(&tree->all, style);
    ml_category_measure(ret, &tree->all);
    for (size_t i = 0; i < tree->rows.len; i++)
        ml_category_measure(ret, &tree->rows.items[i].all);
    taken = (name < NAME_ROOM ? name : NAME_ROOM) + room_of_fixed(tree, style, ret->unit);
    if (style->width > 0)
        ml_category_fit(ret, &tree->all, style->width > taken ? style->width - taken : 0);
    return r;
}

static int put_rows(const struct ml_module_tree *tree, const struct ml_style *style,
                    const struct ml_category_columns *columns, struct ml_table *t)
{
    int r = 0;

    ml_table_cell(t, ALL_NAME);
    ml_cells_bytes(t, style, tree->all.bytes);
    ml_cells_percent(t, 100);
    ml_table_cell(t, "");
    ml_category_cells(t, columns, &tree->all);
    for (size_t i = 0; i < tree->rows.len && r == 0; i++) {
        const struct ml_tree_row *row = &tree->rows.items[i];

        r = name_cell(t, row);
        ml_cells_bytes(t, style, row->all.bytes);
        ml_cells_percent(t, row->percent);
        ml_category_cell(t, columns, row->own.bytes);
        ml_category_cells(t, columns, &row->all);
    }
    return r;
}

/* Memory of malloc has no modules, and a tree of one row says nothing. */
static int put_hint(const struct ml_module_tree *tree, const struct ml_style *style,
                    struct ml_buf *out)
{
    if (tree->rows.len != 1 || !tree->rows.items[0].no_module)
        return 0;
    if (tree->has_stacks)
        return ml_report_paragraph(out, style, 0,
                                   "No block belongs to a module: memledger tree --by callers "
                                   "shows the functions that allocate and their callers.");
    if (!tree->at.instant.health.heap_recorded)
        return 0;
    return ml_report_paragraph(out, style, 0,
                               "No block belongs to a module: memledger run --heap --stacks native "
                               "records the calls, which tree --by callers then shows.");
}

int ml_module_tree_text(const struct ml_module_tree *tree, const char *file,
                        const struct ml_style *style, struct ml_buf *out)
{
    static const char *const titles[] = {">total", ">share", ">own"};
    struct ml_category_columns columns = {0};
    struct ml_table t;
    int r = ml_snapshot_text(&tree->at, file, style, out);

    if (r == 0)
        r = choose_columns(tree, style, &columns);
    if (r < 0 || tree->at.blocks == 0)
        return r;
    r = ml_buf_printf(out, "own and categories in %s\n", ml_unit_name(columns.unit));
    if (r < 0)
        return r;
    ml_table_init(&t);
    ml_table_column(&t, "module", ML_TITLED);
    ml_cells_more_columns(&t, titles, ML_ARRAY_SIZE(titles));
    ml_category_titles(&t, &columns);
    r = put_rows(tree, style, &columns, &t);
    r = ml_cells_print(&t, r, out, style);
    if (r == 0)
        r = ml_category_left_out(&columns, out);
    if (r == 0 && tree->from_scopes)
        r = ml_buf_puts(out, "No modules were recorded: shown by scope.\n");
    return r < 0 ? r : put_hint(tree, style, out);
}

/* ---- JSON -------------------------------------------------------------- */

static void row_json(struct ml_json *json, const struct ml_tree_row *row)
{
    ml_json_begin_object(json);
    ml_json_kv_u64(json, "depth", row->depth);
    ml_json_kv_cstr(json, "module", row->title[0] ? row->title : NULL);
    ml_json_kv_cstr(json, "name", row->name[0] ? row->name : NULL);
    ml_json_kv_cstr(json, "class", row->class_name[0] ? row->class_name : NULL);
    ml_json_kv_u64(json, "modules", row->folded ? row->folded : !row->no_module);
    ml_json_kv_u64(json, "hidden_modules", row->hidden);
    ml_json_kv_u64(json, "bytes", row->all.bytes);
    ml_json_kv_double(json, "percent", row->percent);
    ml_json_kv_u64(json, "blocks", row->all.blocks);
    ml_json_kv_u64(json, "own_bytes", row->own.bytes);
    ml_json_kv_u64(json, "own_blocks", row->own.blocks);
    ml_category_json(json, "by_category", &row->all);
    ml_category_json(json, "own_by_category", &row->own);
    ml_json_end_object(json);
}

int ml_module_tree_json(const struct ml_module_tree *tree, const char *file, struct ml_buf *out)
{
    struct ml_json json;

    ml_json_init(&json, out, true);
    ml_json_begin_object(&json);
    ml_snapshot_json(&tree->at, file, &json);
    ml_json_kv_bool(&json, "from_scopes", tree->from_scopes);
    ml_category_json(&json, "by_category", &tree->all);
    ml_json_key(&json, "rows");
    ml_json_begin_array(&json);
    for (size_t i = 0; i < tree->rows.len; i++)
        row_json(&json, &tree->rows.items[i]);
    ml_json_end_array(&json);
    ml_json_end_object(&json);
    return ml_json_finish(&json);
}
