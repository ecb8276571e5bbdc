/* layers_report.c: the list of layers of module_tree_report.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "category_columns.h"
#include "csv.h"
#include "event_names.h"
#include "module_tree_report.h"
#include "snapshot_report.h"

#define NAME_ROOM 32  /* columns that names get before categories are merged */
#define TOTAL_ROOM 12 /* with its gap */
#define CELLS_MAX (ML_CATEGORIES + 4)

/* ---- Text -------------------------------------------------------------- */

static const char *name_of(const struct ml_layer *layer)
{
    return layer->no_module ? "(no module)" : layer->title;
}

static struct ml_category_columns choose_columns(const struct ml_layers *layers,
                                                 const struct ml_style *style)
{
    struct ml_category_columns columns = ml_category_columns(&layers->all, style);
    size_t name = 0, class_name = 0, taken;

    ml_category_measure(&columns, &layers->all);
    for (size_t i = 0; i < layers->list.len; i++) {
        const struct ml_layer *layer = &layers->list.items[i];
        size_t width = ml_utf8_width(name_of(layer), strlen(name_of(layer)));
        size_t class_width = ml_utf8_width(layer->class_name, strlen(layer->class_name));

        ml_category_measure(&columns, &layer->own);
        name = width > name ? width : name;
        class_name = class_width > class_name ? class_width : class_name;
    }
    taken = (name < NAME_ROOM ? name : NAME_ROOM) + TOTAL_ROOM + (class_name ? class_name + 2 : 0);
    if (style->width > 0)
        ml_category_fit(&columns, &layers->all, style->width > taken ? style->width - taken : 0);
    return columns;
}

static bool has_classes(const struct ml_layers *layers)
{
    for (size_t i = 0; i < layers->list.len; i++)
        if (layers->list.items[i].class_name[0])
            return true;
    return false;
}

static void sum_row(struct ml_table *t, const struct ml_layers *layers,
                    const struct ml_style *style, const struct ml_category_columns *columns)
{
    char texts[CELLS_MAX][32];
    const char *cells[CELLS_MAX] = {"total"};
    size_t n = 1;

    for (size_t i = 0; i < ML_CATEGORIES; i++)
        if (columns->shown >> ml_category_order[i] & 1) {
            cells[n] = ml_category_number(texts[n], layers->all.by_category[ml_category_order[i]],
                                          columns->unit);
            n++;
        }
    if (columns->rest) {
        cells[n] = ml_category_number(texts[n], ml_holding_rest(&layers->all, columns->shown),
                                      columns->unit);
        n++;
    }
    cells[n] = ml_format_bytes(texts[n], (int64_t)layers->all.bytes, style->unit);
    ml_cells_sum(t, cells, n + 1);
}

int ml_layers_text(const struct ml_layers *layers, const char *file, const struct ml_style *style,
                   struct ml_buf *out)
{
    struct ml_category_columns columns = choose_columns(layers, style);
    bool classes = has_classes(layers);
    struct ml_table t;
    int r = ml_snapshot_text(&layers->at, file, style, out);

    if (r < 0 || layers->at.blocks == 0)
        return r;
    r = ml_buf_printf(out, "categories in %s\n", ml_unit_name(columns.unit));
    if (r < 0)
        return r;
    ml_table_init(&t);
    ml_table_column(&t, "module", ML_LEFT);
    ml_category_titles(&t, &columns);
    ml_table_column(&t, "total", ML_RIGHT);
    if (classes)
        ml_table_column(&t, "class", ML_LEFT);
    for (size_t i = 0; i < layers->list.len; i++) {
        const struct ml_layer *layer = &layers->list.items[i];

        ml_table_cell(&t, name_of(layer));
        ml_category_cells(&t, &columns, &layer->own);
        ml_cells_bytes(&t, style, layer->own.bytes);
        if (classes)
            ml_table_cell(&t, layer->class_name);
    }
    sum_row(&t, layers, style, &columns);
    r = ml_cells_print(&t, r, out, style);
    if (r == 0)
        r = ml_category_left_out(&columns, out);
    if (r == 0 && layers->from_scopes)
        r = ml_buf_puts(out, "No modules were recorded: shown by scope.\n");
    return r;
}

/* ---- JSON -------------------------------------------------------------- */

int ml_layers_json(const struct ml_layers *layers, const char *file, struct ml_buf *out)
{
    struct ml_json json;

    ml_json_init(&json, out, true);
    ml_json_begin_object(&json);
    ml_snapshot_json(&layers->at, file, &json);
    ml_json_kv_bool(&json, "from_scopes", layers->from_scopes);
    ml_category_json(&json, "by_category", &layers->all);
    ml_json_key(&json, "layers");
    ml_json_begin_array(&json);
    for (size_t i = 0; i < layers->list.len; i++) {
        const struct ml_layer *layer = &layers->list.items[i];

        ml_json_begin_object(&json);
        ml_json_kv_cstr(&json, "module", layer->no_module ? NULL : layer->title);
        ml_json_kv_cstr(&json, "class", layer->class_name[0] ? layer->class_name : NULL);
        ml_json_kv_u64(&json, "bytes", layer->own.bytes);
        ml_json_kv_double(&json, "percent", layer->percent);
        ml_json_kv_u64(&json, "blocks", layer->own.blocks);
        ml_category_json(&json, "by_category", &layer->own);
        ml_json_end_object(&json);
    }
    ml_json_end_array(&json);
    ml_json_end_object(&json);
    return ml_json_finish(&json);
}

/* ---- CSV --------------------------------------------------------------- */

static int row_csv(const struct ml_layer *layer, bool safe, struct ml_buf *out)
{
    const struct ml_holding *holding = &layer->own;
    int r = ml_csv_name(out, name_of(layer), safe);

    if (r == 0)
        r = ml_csv_name(out, layer->class_name, safe);
    for (size_t i = 0; i < ML_CATEGORIES && r == 0; i++)
        r = ml_csv_u64(out, holding->by_category[ml_category_order[i]]);
    if (r == 0)
        r = ml_csv_u64(out, holding->bytes);
    return r < 0 ? r : ml_csv_end(out);
}

int ml_layers_csv(const struct ml_layers *layers, bool safe, struct ml_buf *out)
{
    int r = ml_csv_text(out, "module");

    if (r == 0)
        r = ml_csv_text(out, "class");
    for (size_t i = 0; i < ML_CATEGORIES && r == 0; i++)
        r = ml_csv_text(out, ml_category_name(ml_category_order[i]));
    if (r == 0)
        r = ml_csv_text(out, "total");
    if (r == 0)
        r = ml_csv_end(out);
    for (size_t i = 0; i < layers->list.len && r == 0; i++)
        r = row_csv(&layers->list.items[i], safe, out);
    return r;
}
