/* canvas_text.c: the width of text, and cutting it to fit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "canvas.h"
#include "utf8.h"

/* Hundredths of the size that printable ASCII advances by in DejaVu Sans, which is
 * wider than most: text that fits in it fits in other fonts. */
static const uint8_t advances[95] = {
    32, 40, 46, 84, 64, 95, 78, 28, 39,  39, 50, 84, 32, 36, 32, 34, 64, 64, 64, 64, 64, 64, 64, 64,
    64, 64, 34, 34, 84, 84, 84, 53, 100, 68, 69, 70, 77, 63, 58, 78, 75, 30, 30, 66, 56, 86, 75, 79,
    60, 79, 70, 64, 61, 73, 68, 99, 68,  61, 68, 39, 34, 39, 84, 50, 50, 61, 64, 55, 64, 62, 35, 64,
    63, 28, 28, 58, 28, 97, 63, 61, 64,  64, 41, 52, 39, 63, 59, 82, 59, 59, 52, 64, 34, 64, 84,
};
#define OTHER_ADVANCE 62 /* per column of any other character */
#define BOLD 1.17        /* approximate factor */

/* The first character's width in sizes. @return its bytes */
static size_t measure(const char *text, size_t len, double *ret)
{
    uint32_t c = 0;
    size_t bytes = ml_utf8_decode(text, len, &c);

    if (bytes == 0)
        bytes = 1;
    if (bytes == 1 && c >= 32 && c < 127)
        *ret = advances[c - 32] / 100.0;
    else
        *ret = OTHER_ADVANCE / 100.0 * (double)ml_utf8_width(text, bytes);
    return bytes;
}

double ml_text_width(const char *text, double size_px, bool bold)
{
    size_t len = strlen(text);
    double width = 0, one;

    while (len > 0) {
        size_t bytes = measure(text, len, &one);

        width += one;
        text += bytes;
        len -= bytes;
    }
    return width * size_px * (bold ? BOLD : 1);
}

void ml_draw_text_within(struct ml_canvas *canvas, const struct ml_lettering *lettering, double x,
                         double y, double room, const char *text)
{
    double size =
        (lettering->size > 0 ? lettering->size : ML_TEXT_PX) * (lettering->bold ? BOLD : 1);
    double left = room / size - 1, one; /* 1: the dots */
    size_t len = strlen(text), at = 0, characters = 0;

    if (ml_text_width(text, size, false) <= room) {
        ml_draw_text(canvas, lettering, x, y, text);
        return;
    }
    while (at < len) {
        size_t bytes = measure(text + at, len - at, &one);

        if (one > left)
            break;
        left -= one;
        at += bytes;
        characters++;
    }
    if (characters >= 2)
        ml_draw_text(canvas, lettering, x, y, ml_canvas_printf(canvas, "%.*s…", (int)at, text));
}
