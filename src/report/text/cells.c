/* cells.c: see cells.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cells.h"

#include <string.h>

#include "utf8.h"

#define BAR_COLUMNS 20
#define BAR_WIDTH_MIN 90 /* of the text */
#define RULE "\xe2\x95\x90"
#define RULE_MAX 32
#define FULL "\xe2\x96\x88"

void ml_cells_columns(struct ml_table *table, const char *const *titles, size_t count)
{
    ml_table_init(table);
    ml_cells_more_columns(table, titles, count);
}

void ml_cells_more_columns(struct ml_table *table, const char *const *titles, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ml_table_column(table, titles[i] + (titles[i][0] == '>'),
                        titles[i][0] == '>' ? ML_RIGHT : ML_LEFT);
}

void ml_cells_bytes(struct ml_table *table, const struct ml_style *style, uint64_t bytes)
{
    char text[32];

    ml_table_cell(table, ml_format_bytes(text, (int64_t)bytes, style->unit));
}

void ml_cells_count(struct ml_table *table, uint64_t count)
{
    char text[32];

    ml_table_cell(table, ml_format_count(text, (int64_t)count));
}

void ml_cells_time(struct ml_table *table, uint64_t ns)
{
    char text[32];

    ml_table_cell(table, ml_format_duration_ns(text, (int64_t)ns));
}

void ml_cells_percent(struct ml_table *table, double percent)
{
    ml_table_cellf(table, "%.1f %%", percent);
}

bool ml_cells_bars_fit(const struct ml_style *style)
{
    return style->width == 0 || style->width >= BAR_WIDTH_MIN;
}

void ml_cells_bar(struct ml_table *table, double percent)
{
    static const char *const eighths[] = {"",
                                          "\xe2\x96\x8f",
                                          "\xe2\x96\x8e",
                                          "\xe2\x96\x8d",
                                          "\xe2\x96\x8c",
                                          "\xe2\x96\x8b",
                                          "\xe2\x96\x8a",
                                          "\xe2\x96\x89"};
    char text[(BAR_COLUMNS + 1) * 3 + 1] = "";
    unsigned parts;

    if (!(percent > 0))
        percent = 0;
    if (percent > 100)
        percent = 100;
    parts = (unsigned)(percent / 100 * BAR_COLUMNS * 8 + 0.5);
    for (unsigned i = 0; i < parts / 8; i++)
        strcat(text, FULL);
    strcat(text, eighths[parts % 8]);
    ml_table_cell(table, text);
}

void ml_cells_scope(struct ml_table *table, const char *path)
{
    ml_table_cell(table, path[0] ? path : "(no scope)");
}

void ml_cells_rule(struct ml_table *table, size_t width)
{
    char text[RULE_MAX * (sizeof(RULE) - 1) + 1] = "";

    for (size_t i = 0; i < width && i < RULE_MAX; i++)
        strcat(text, RULE);
    ml_table_cell(table, text);
}

void ml_cells_sum(struct ml_table *table, const char *const *cells, size_t count)
{
    for (size_t i = 0; i < table->columns.len; i++) {
        const struct ml_table_column *column = &table->columns.items[i];
        const char *cell = i < count ? cells[i] : "";
        size_t width = ml_utf8_width(cell, strlen(cell));

        if (column->align == ML_LEFT || cell[0] == '\0')
            ml_table_cell(table, "");
        else
            ml_cells_rule(table, width > column->width ? width : column->width);
    }
    for (size_t i = 0; i < table->columns.len; i++)
        ml_table_cell(table, i < count ? cells[i] : "");
}

int ml_cells_print(struct ml_table *table, int r, struct ml_buf *out, const struct ml_style *style)
{
    if (r == 0)
        r = ml_table_print(table, out, style->width);
    ml_table_release(table);
    return r;
}
