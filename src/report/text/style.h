/* style.h: how a text report looks: width, colour and unit. The caller sets
 * it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REPORT_STYLE_H
#define ML_REPORT_STYLE_H

#include <stdbool.h>
#include <stddef.h>

#include "text.h"
#include "vec.h"

struct ml_style {
    size_t width;       /* columns of tables and lines, which are cut to fit; 0: unlimited */
    size_t prose_width; /* where sentences break when width is 0; 0: nowhere */
    bool colour;
    enum ml_unit unit;
};

/* The columns after which a sentence continues in the next line; 0: unlimited. */
static inline size_t ml_prose_width(const struct ml_style *style)
{
    return style->width ? style->width : style->prose_width;
}

/* A line that begins a part of a report, with an empty line before it.
 * @return 0 or -ENOMEM, as all of these */
int ml_report_heading(struct ml_buf *out, const struct ml_style *style, const char *fmt, ...)
    ML_PRINTF(3, 4);

/* The same without the empty line, for the first line of a text. */
int ml_report_title(struct ml_buf *out, const struct ml_style *style, const char *fmt, ...)
    ML_PRINTF(3, 4);

/* A line that warns, broken into several if it is wider than a terminal. */
int ml_report_warning(struct ml_buf *out, const struct ml_style *style, const char *fmt, ...)
    ML_PRINTF(3, 4);

/* Text of unknown origin, sanitized for a terminal: control characters and
 * invalid UTF-8 are replaced. Then out->data is text, even if nothing was appended. */
int ml_report_safe(struct ml_buf *out, const char *text);

/* "1.5 KiB" in the style's unit, for argument lists. */
struct ml_size_text {
    char text[32];
};
struct ml_size_text ml_report_size(const struct ml_style *style, uint64_t bytes);

/* "2026-01-31 12:00:00 UTC". */
int ml_report_wall_time(struct ml_buf *out, uint64_t wall_ns);

/* The command on its own line, then "recorded ... on HOST" without a line
 * break after it.
 * @wall_ns  0: not known
 * @host     NULL: not known */
int ml_report_origin(struct ml_buf *out, const char *run, uint64_t wall_ns, const char *host);

#endif
