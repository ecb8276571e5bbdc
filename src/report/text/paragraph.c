/* paragraph.c: see paragraph.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "paragraph.h"

#include <string.h>

/* The length of the next word; a number and its unit are one word. */
static size_t word_len(const char *text)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB",
                                        "%", "ns",  "us",  "ms",  "s"};
    size_t len = strcspn(text, " ");

    if (len == 0 || text[len] != ' ' || text[len - 1] < '0' || text[len - 1] > '9')
        return len;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        const char *unit = text + len + 1;
        size_t unit_len = strlen(units[i]);

        if (strncmp(unit, units[i], unit_len) == 0 &&
            (unit[unit_len] == '\0' || strchr(" ,;:.)", unit[unit_len])))
            return len + 1 + strcspn(unit, " ");
    }
    return len;
}

static int break_lines(struct ml_buf *out, size_t width, size_t indent, const char *text)
{
    size_t column = 0; /* after the indentation */
    int r = 0;

    while (r == 0 && *(text += strspn(text, " "))) {
        size_t len = word_len(text);
        size_t word = ml_utf8_width(text, len);
        bool fits = column == 0 || width == 0 || indent + column + 1 + word <= width;

        if (column > 0)
            r = ml_buf_puts(out, fits ? " " : "\n");
        if (r == 0 && !fits)
            r = ml_buf_fill(out, ' ', indent);
        if (r == 0)
            r = ml_buf_append(out, text, len);
        column = (fits && column > 0 ? column + 1 : 0) + word;
        text += len;
    }
    return r < 0 ? r : ml_buf_puts(out, "\n");
}

int ml_report_paragraph(struct ml_buf *out, const struct ml_style *style, size_t indent,
                        const char *text)
{
    struct ml_buf safe;
    int r;

    ml_buf_init(&safe);
    r = ml_report_safe(&safe, text);
    if (r == 0)
        r = break_lines(out, ml_prose_width(style), indent, (const char *)safe.data);
    ml_buf_release(&safe);
    return r;
}
