/* svg_text.c: writing into a drawing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <string.h>

#include "svg_parts.h"
#include "utf8.h"

void ml_svg_put(struct ml_svg *svg, const char *fmt, ...)
{
    va_list args;

    if (svg->error < 0)
        return;
    va_start(args, fmt);
    svg->error = ml_buf_vprintf(svg->out, fmt, args);
    va_end(args);
}

static const char *entity(uint32_t c)
{
    switch (c) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    default: return NULL;
    }
}

void ml_svg_put_text(struct ml_svg *svg, const char *text)
{
    size_t len = strlen(text);

    while (len > 0) {
        uint32_t c = 0;
        size_t bytes = ml_utf8_decode(text, len, &c);
        size_t step = bytes ? bytes : 1;

        if (bytes == 0 || c < 0x20 || c == 0x7f || c == 0xfffe || c == 0xffff)
            ml_svg_put(svg, "%s", c == '\t' || c == '\n' ? " " : "?");
        else if (entity(c))
            ml_svg_put(svg, "%s", entity(c));
        else
            ml_svg_put(svg, "%.*s", (int)bytes, text);
        text += step;
        len -= step;
    }
}

double ml_svg_text_width(const char *text, double size_px)
{
    return 0.58 * size_px * (double)ml_utf8_width(text, strlen(text));
}
