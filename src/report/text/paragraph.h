/* paragraph.h: sentences, broken into lines that fit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REPORT_PARAGRAPH_H
#define ML_REPORT_PARAGRAPH_H

#include "style.h"

/* Appends the text in lines of at most ml_prose_width, broken at spaces, but not
 * between a number and its unit, and sanitized as by ml_report_safe. A longer word
 * gets its own line.
 * @indent  columns before every line but the first, which continues the last line of `out`
 * @return 0 or -ENOMEM */
int ml_report_paragraph(struct ml_buf *out, const struct ml_style *style, size_t indent,
                        const char *text);

#endif
