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

/* First the parts of a model, then the results of its computation. */
const uint8_t ml_category_order[ML_CATEGORIES] = {
    MEMLEDGER_PARAMETER,       MEMLEDGER_GATHERED,   MEMLEDGER_BUFFER,
    MEMLEDGER_KV_CACHE,        MEMLEDGER_GRADIENT,   MEMLEDGER_COMMUNICATION,
    MEMLEDGER_OPTIMIZER_STATE, MEMLEDGER_ACTIVATION, MEMLEDGER_INTERMEDIATE_GRADIENT,
    MEMLEDGER_TEMPORARY,       MEMLEDGER_WORKSPACE,  MEMLEDGER_INPUT,
    MEMLEDGER_OTHER,
};

/* No wider than most numbers. */
static const char *const titles[ML_CATEGORIES] = {
    [MEMLEDGER_PARAMETER] = "param",   [MEMLEDGER_BUFFER] = "buffer",
    [MEMLEDGER_GRADIENT] = "grad",     [MEMLEDGER_OPTIMIZER_STATE] = "optim",
    [MEMLEDGER_ACTIVATION] = "activ",  [MEMLEDGER_INTERMEDIATE_GRADIENT] = "int.grad",
    [MEMLEDGER_TEMPORARY] = "temp",    [MEMLEDGER_INPUT] = "input",
    [MEMLEDGER_WORKSPACE] = "workspc", [MEMLEDGER_KV_CACHE] = "kv",
    [MEMLEDGER_GATHERED] = "gathered", [MEMLEDGER_COMMUNICATION] = "comm",
    [MEMLEDGER_OTHER] = "other",
};

const char *ml_category_short(const char *name)
{
    for (uint64_t i = 0; i < ML_CATEGORIES; i++)
        if (strcmp(name, ml_category_name(i)) == 0)
            return titles[i];
    return name;
}

const char *ml_unit_name(enum ml_unit unit)
{
    static const char *const names[] = {"", "B", "KiB", "MiB", "GiB"};

    return names[unit];
}

/* A decimal place distinguishes even small parts of the whole. */
static enum ml_unit choose_unit(uint64_t bytes)
{
    if (bytes >= UINT64_C(64) << 30)
        return ML_UNIT_GIB;
    if (bytes >= UINT64_C(1) << 20)
        return ML_UNIT_MIB;
    return bytes >= UINT64_C(1) << 10 ? ML_UNIT_KIB : ML_UNIT_B;
}

struct ml_category_columns ml_category_columns(const struct ml_holding *all,
                                               const struct ml_style *style)
{
    struct ml_category_columns columns = {.rest_width = strlen(REST_TITLE), .unit = style->unit};

    if (columns.unit == ML_UNIT_AUTO)
        columns.unit = choose_unit(all->bytes);
    for (uint8_t i = 0; i < ML_CATEGORIES; i++) {
        columns.shown |= (all->by_category[i] > 0) << i;
        columns.widths[i] = strlen(titles[i]);
    }
    return columns;
}

const char *ml_category_number(char buf[32], uint64_t bytes, enum ml_unit unit)
{
    ml_format_bytes(buf, (int64_t)bytes, unit);
    buf[strcspn(buf, " ")] = '\0';
    return buf;
}

static void widen(size_t *width, uint64_t bytes, enum ml_unit unit)
{
    char text[32];
    size_t len = strlen(ml_category_number(text, bytes, unit));

    if (bytes > 0 && len > *width)
        *width = len;
}

void ml_category_measure(struct ml_category_columns *columns, const struct ml_holding *row)
{
    for (size_t i = 0; i < ML_CATEGORIES; i++)
        widen(&columns->widths[i], row->by_category[i], columns->unit);
    widen(&columns->rest_width, row->bytes, columns->unit);
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
        unsigned category = 1u << smallest(columns, all);

        columns->shown &= ~category;
        columns->left_out |= category;
        columns->rest = true;
    }
    columns->rest &= columns->shown != 0; /* a column with everything is useless */
}

int ml_category_left_out(const struct ml_category_columns *columns, struct ml_buf *out)
{
    const char *before = columns->rest ? REST_TITLE ": " : "no room for ";
    int r = 0;

    if (!columns->left_out)
        return 0;
    for (size_t i = 0; i < ML_CATEGORIES && r == 0; i++) {
        if (!(columns->left_out >> ml_category_order[i] & 1))
            continue;
        r = ml_buf_printf(out, "%s%s", before, titles[ml_category_order[i]]);
        before = ", ";
    }
    return r < 0 ? r : ml_buf_puts(out, "\n(a wider terminal, a pipe or --json shows each)\n");
}

void ml_category_titles(struct ml_table *table, const struct ml_category_columns *columns)
{
    for (size_t i = 0; i < ML_CATEGORIES; i++)
        if (columns->shown >> ml_category_order[i] & 1)
            ml_table_column(table, titles[ml_category_order[i]], ML_RIGHT);
    if (columns->rest)
        ml_table_column(table, REST_TITLE, ML_RIGHT);
}

void ml_category_cell(struct ml_table *table, const struct ml_category_columns *columns,
                      uint64_t bytes)
{
    char text[32];

    ml_table_cell(table, bytes ? ml_category_number(text, bytes, columns->unit) : "");
}

void ml_category_cells(struct ml_table *table, const struct ml_category_columns *columns,
                       const struct ml_holding *holding)
{
    for (size_t i = 0; i < ML_CATEGORIES; i++)
        if (columns->shown >> ml_category_order[i] & 1)
            ml_category_cell(table, columns, holding->by_category[ml_category_order[i]]);
    if (columns->rest)
        ml_category_cell(table, columns, ml_holding_rest(holding, columns->shown));
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
