/* table_cell.h: one cell of a table, cut to its column's width.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_BASE_TABLE_CELL_H
#define ML_BASE_TABLE_CELL_H

#include "name_cut.h"
#include "table.h"

#define ML_TABLE_SHRINK_LEAST 8 /* a column that may be cut does not get narrower */

/* Appends the text and the spaces around it that fill `width` columns. A longer text is cut in
 * the way that the alignment asks for.
 * @return 0 or -ENOMEM */
int ml_table_cell_put(const struct ml_table_text *text, enum ml_align align, size_t width,
                      struct ml_buf *out);

/* Appends what the cut shows and fills `width` columns. @return 0 or -ENOMEM */
int ml_table_cut_put(const struct ml_table_text *text, const struct ml_name_cut *cut, size_t width,
                     struct ml_buf *out);

#endif
