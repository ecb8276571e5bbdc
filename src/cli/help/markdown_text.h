/* markdown_text.h: a page of the documentation as text for a terminal.
 *
 * Knows the Markdown that the pages use: headings, paragraphs, lists, tables, code and links.
 * Anything else is shown as it was typed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CLI_MARKDOWN_TEXT_H
#define ML_CLI_MARKDOWN_TEXT_H

#include "style.h"

/* Appends the page: headings bold if the style has colour, code indented, the rest wrapped to
 * the style's width. Code is never wrapped.
 * @return 0 or -ENOMEM */
int ml_markdown_text(const char *page, const struct ml_style *style, struct ml_buf *out);

#endif
