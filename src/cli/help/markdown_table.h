/* markdown_table.h: a table of a Markdown page, its cells wrapped to the width.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CLI_MARKDOWN_TABLE_H
#define ML_CLI_MARKDOWN_TABLE_H

#include "style.h"

/* Appends the table whose lines begin at `lines`: "| a | b |", a line of dashes, rows.
 * @indent   the columns to leave empty before it
 * @ret_len  the bytes of the table in the page
 * @return 0 or -ENOMEM */
int ml_markdown_table(const char *lines, const struct ml_style *style, size_t indent,
                      struct ml_buf *out, size_t *ret_len);

#endif
