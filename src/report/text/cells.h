/* cells.h: table cells that hold sizes, counts, times and shares. Errors stay in
 * the table, as table.h says.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REPORT_CELLS_H
#define ML_REPORT_CELLS_H

#include "style.h"
#include "table.h"

/* Columns in one call: titles that begin with '>' are aligned right. */
void ml_cells_columns(struct ml_table *table, const char *const *titles, size_t count);

/* The same for a table that has columns already. */
void ml_cells_more_columns(struct ml_table *table, const char *const *titles, size_t count);

void ml_cells_bytes(struct ml_table *table, const struct ml_style *style, uint64_t bytes);
void ml_cells_count(struct ml_table *table, uint64_t count);
void ml_cells_time(struct ml_table *table, uint64_t ns);
void ml_cells_percent(struct ml_table *table, double percent);

/* A bar of up to 20 columns for 100 percent, and whether bars fit. */
void ml_cells_bar(struct ml_table *table, double percent);
bool ml_cells_bars_fit(const struct ml_style *style);

/* The name of a scope, "(no scope)" for an empty one. */
void ml_cells_scope(struct ml_table *table, const char *path);

/* A double rule of at most 32 columns. */
void ml_cells_rule(struct ml_table *table, size_t width);

/* A double rule under every column that is aligned right, and a row below it.
 * @cells  of the first columns; the others stay empty */
void ml_cells_sum(struct ml_table *table, const char *const *cells, size_t count);

/* Prints the table, unless something failed before (r < 0), and releases it.
 * @return r, or the error of printing */
int ml_cells_print(struct ml_table *table, int r, struct ml_buf *out, const struct ml_style *style);

#endif
