/* category_columns.c: see category_columns.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "category_columns.h"

#include <string.h>

#include "event_names.h"
#include "memledger/memledger.h"

#define GAP 2
#define REST_TITLE "rest"

/* What a model is made of first, then what it computes. */
const uint8_t ml_category_order[ML_CATEGORIES] = {
    MEMLEDGER_PARAMETER,       MEMLEDGER_BUFFER,     MEMLEDGER_GRADIENT,
    MEMLEDGER_OPTIMIZER_STATE, MEMLEDGER_ACTIVATION, MEMLEDGER_INTERMEDIATE_GRADIENT,
    MEMLEDGER_TEMPORARY,       MEMLEDGER_INPUT,      MEMLEDGER_OTHER,
};

/* No wider than most cells. */
const char *ml_category_title(uint8_t category)
{
    switch (category) {
    case MEMLEDGER_OPTIMIZER_STATE: return "optimizer";
    case MEMLEDGER_INTERMEDIATE_GRADIENT: return "int. grad.";
    default: return ml_category_name(category);
    }
}

struct ml_category_columns ml_category_columns(const struct ml_holding *all)
{
    struct ml_category_columns columns = {.rest_width = strlen(REST_TITLE)};

    for (uint8_t i = 0; i < ML_CATEGORIES; i++) {
        columns.shown |= (all->by_category[i] > 0) << i;
        columns.widths[i] = strlen(ml_category_title(i));
    }
    return columns;
}

static void widen(size_t *width, uint64_t bytes, const struct ml_style *style)
{
    char text[32];
    size_t len = strlen(ml_format_bytes(text, (int64_t)bytes, style->unit));

    if (bytes > 0 && len > *width)
        *width = len;
}

void ml_category_measure(struct ml_category_columns *columns, const struct ml_holding *row,
                         const struct ml_style *style)
{
    for (size_t i = 0; i < ML_CATEGORIES; i++)
        widen(&columns->widths[i], row->by_category[i], style);
    widen(&columns->rest_width, row->bytes, style);
}

static size_t width_of(const struct ml_category_columns *columns)
{
    size_t width = columns->rest ? columns->rest_width + GAP : 0;

    for (size_t i = 0; i < ML_CATEGORIES; i++)
        width += columns->shown >> i & 1 ? columns->widths[i] + GAP : 0;
    return width;
}

static unsigned smallest(const struct ml_category_columns *columns, const struct ml_holding *all)
{
    unsigned least = ML_CATEGORIES;

    for (unsigned i = 0; i < ML_CATEGORIES; i++)
        if (columns->shown >> i & 1 &&
            (least == ML_CATEGORIES || all->by_category[i] < all->by_category[least]))
            least = i;
    return least;
}

void ml_category_fit(struct ml_category_columns *columns, const struct ml_holding *all, size_t room)
{
    while (columns->shown && width_of(columns) > room) {
        columns->shown &= ~(1u << smallest(columns, all));
        columns->rest = true;
    }
    columns->rest &= columns->shown != 0; /* a rest of everything says nothing */
}

void ml_category_titles(struct ml_table *table, const struct ml_category_columns *columns)
{
    for (size_t i = 0; i < ML_CATEGORIES; i++)
        if (columns->shown >> ml_category_order[i] & 1)
            ml_table_column(table, ml_category_title(ml_category_order[i]), ML_RIGHT);
    if (columns->rest)
        ml_table_column(table, REST_TITLE, ML_RIGHT);
}

void ml_cells_some_bytes(struct ml_table *table, const struct ml_style *style, uint64_t bytes)
{
    if (bytes > 0)
        ml_cells_bytes(table, style, bytes);
    else
        ml_table_cell(table, "");
}

void ml_category_cells(struct ml_table *table, const struct ml_style *style,
                       const struct ml_category_columns *columns, const struct ml_holding *holding)
{
    for (size_t i = 0; i < ML_CATEGORIES; i++)
        if (columns->shown >> ml_category_order[i] & 1)
            ml_cells_some_bytes(table, style, holding->by_category[ml_category_order[i]]);
    if (columns->rest)
        ml_cells_some_bytes(table, style, ml_holding_rest(holding, columns->shown));
}

void ml_category_json(struct ml_json *json, const char *key, const struct ml_holding *holding)
{
    ml_json_key(json, key);
    ml_json_begin_object(json);
    for (size_t i = 0; i < ML_CATEGORIES; i++)
        ml_json_kv_u64(json, ml_category_name(ml_category_order[i]),
                       holding->by_category[ml_category_order[i]]);
    ml_json_end_object(json);
}
