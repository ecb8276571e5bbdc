/* table.h: rows and columns of text, fitted to a width.
 *
 * Declare the columns, then add cells row by row; printing measures everything and writes
 * titles, an underline and the rows, two spaces apart:
 *
 *     ml_table_init(&t);
 *     ml_table_column(&t, "scope", ML_LEFT);
 *     ml_table_column(&t, "bytes", ML_RIGHT);
 *     ml_table_cell(&t, "encoder.layer0");
 *     ml_table_cellf(&t, "%zu", bytes);
 *     r = ml_table_print(&t, &out, 80);
 *     ml_table_release(&t);
 *
 * The first error is kept: later calls return it and do nothing, so checking ml_table_print
 * alone is enough. Control characters and invalid UTF-8 become "?", so that the output cannot
 * control a terminal. Not thread-safe.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_BASE_TABLE_H
#define ML_BASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "compiler.h"
#include "vec.h"

/* ML_PARTS: left; see table_parts.h for a cell that is too long. ML_PLACE: left,
 * "folder/file.py:12 function"; if too long, the function is cut first, then the folder, the
 * line number last. ML_TITLED: left, "  name  class", with any indentation; if too long, the class
 * is cut first. */
enum ml_align { ML_LEFT, ML_RIGHT, ML_PARTS, ML_PLACE, ML_TITLED };

/* Separates the parts of a cell. */
#define ML_TABLE_BETWEEN " < "

struct ml_table_text {
    const char *bytes; /* in the arena */
    size_t len;
    size_t width; /* columns on a terminal */
};

struct ml_table_column {
    struct ml_table_text title;
    enum ml_align align;
    size_t width; /* of the title or the widest cell */
    bool kept;    /* see ml_table_keep */
};

struct ml_table {
    struct ml_arena arena;
    struct ml_buf scratch; /* the cell being built */
    ML_VEC(struct ml_table_column) columns;
    ML_VEC(struct ml_table_text) cells; /* row after row */
    int error;                          /* the first failure */
};

void ml_table_init(struct ml_table *table);
void ml_table_release(struct ml_table *table);

/* Add a column. All columns come before the first cell.
 * @title  copied
 * @return 0, -ENOMEM, or -EINVAL when there are cells already */
int ml_table_column(struct ml_table *table, const char *title, enum ml_align align);

/* The column tells the rows apart: in a narrow table it shrinks only when the others cannot.
 * @column  from 0; ignored if it could not be added */
void ml_table_keep(struct ml_table *table, size_t column);

/* Add the next cell, left to right, row after row.
 * @text   copied; NULL is an empty cell
 * @return 0, -ENOMEM, or -EINVAL when there are no columns */
int ml_table_cell(struct ml_table *table, const char *text);
int ml_table_cellf(struct ml_table *table, const char *fmt, ...) ML_PRINTF(2, 3);

/* Rows begun so far. */
size_t ml_table_rows(const struct ml_table *table);

/* Append the table to `out`, each line ended by a line break. The last row may
 * be incomplete. Without any title there is no header. The table stays as it is
 * and can be printed again.
 *
 * When it is wider than `width`, the widest left-aligned columns shrink, kept ones last. A start
 * that all their cells share is dropped and told once above the table ("Each scope begins with
 * model."); then cells are cut, down to 8 columns, so that different ones look different
 * (name_cut.h). Right-aligned columns hold numbers and are never cut, so a very narrow
 * width is exceeded.
 *
 * @width  columns; 0: unlimited
 * @return 0, -ENOMEM, or the error of an earlier call */
int ml_table_print(const struct ml_table *table, struct ml_buf *out, size_t width);

#endif
