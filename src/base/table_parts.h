/* table_parts.h: a cell of several parts, such as the frames of a stack, in a narrow column.
 *
 * A part is a name, often with its place: "forward (/home/me/net.py:12)". The folders of places go
 * first, then the parts in the middle, last the ends of names.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_BASE_TABLE_PARTS_H
#define ML_BASE_TABLE_PARTS_H

#include "table.h"
#include "vec.h"

/* Appends the text, which is wider than `width`, in exactly that many columns.
 * @return 0 or -ENOMEM */
int ml_table_parts_put(const struct ml_table_text *text, size_t width, struct ml_buf *out);

#endif
