/* canvas_svg.c: a canvas as a self-contained SVG, which follows a dark
 * screen and prints on white.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "canvas_parts.h"

struct writer {
    const struct ml_canvas *canvas;
    struct ml_buf *out;
    int error;
    bool inks[ML_INKS]; /* that occur */
    bool hatches[ML_INKS][ML_HATCHES];
};

static void put(struct writer *w, const char *fmt, ...) ML_PRINTF(2, 3);

static void put(struct writer *w, const char *fmt, ...)
{
    va_list args;

    if (w->error < 0)
        return;
    va_start(args, fmt);
    w->error = ml_buf_vprintf(w->out, fmt, args);
    va_end(args);
}

/* A tenth of a pixel is enough; "12.0" is written as "12", "-0.0" as "0". */
static const char *number(char buf[32], double value)
{
    long long tenths = (long long)(value * 10 + (value < 0 ? -0.5 : 0.5));

    if (tenths % 10)
        snprintf(buf, 32, "%s%lld.%lld", tenths < 0 ? "-" : "", llabs(tenths) / 10,
                 llabs(tenths) % 10);
    else
        snprintf(buf, 32, "%lld", tenths / 10);
    return buf;
}

static void put_number(struct writer *w, const char *before, double value)
{
    char buf[32];

    put(w, "%s%s", before, number(buf, value));
}

/* XML's special characters are written as entities; the canvas has clean text. */
static void put_text(struct writer *w, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '&': put(w, "&amp;"); break;
        case '<': put(w, "&lt;"); break;
        case '>': put(w, "&gt;"); break;
        case '"': put(w, "&quot;"); break;
        default: put(w, "%c", *text);
        }
}

/* ---- Style sheet ------------------------------------------------------- */

static void note_inks(struct writer *w)
{
    for (size_t i = 0; i < w->canvas->shapes.len; i++) {
        const struct ml_figure *s = &w->canvas->shapes.items[i];

        w->inks[s->pen.fill] = w->inks[s->pen.stroke] = w->inks[s->lettering.ink] = true;
        w->hatches[s->pen.fill][s->pen.hatch] = true;
    }
    w->inks[ML_INK_PAPER] = w->inks[ML_INK_TEXT] = true;
    w->inks[ML_INK_NONE] = false;
}

static void put_shades(struct writer *w, bool dark)
{
    for (int i = 0; i < ML_INKS; i++)
        if (w->inks[i]) {
            uint32_t rgb = ml_ink_rgb((enum ml_ink)i, dark);

            put(w, ".f%d{fill:#%06" PRIx32 "}.s%d{stroke:#%06" PRIx32 "}\n", i, rgb, i, rgb);
        }
}

static void put_style(struct writer *w, bool dark)
{
    put(w,
        "<style>\n"
        "text{font-family:system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif;"
        "font-size:%dpx}\n"
        "path,circle{fill:none;stroke-linejoin:round}.b{font-weight:600}"
        ".m{text-anchor:middle}.e{text-anchor:end}\n"
        ".h{stroke-width:%d;stroke-linejoin:round}.p{stroke-opacity:%.2f}\n",
        ML_TEXT_PX, ML_HALO_PX, ML_HATCH_OPACITY);
    for (int i = 1; i < ML_DASHES; i++) {
        put(w, ".d%d{stroke-dasharray:", i);
        for (int k = 0; k < ML_DASH_PARTS && ml_dash_lengths[i][k] > 0; k++)
            put(w, "%s%g", k ? " " : "", ml_dash_lengths[i][k]);
        put(w, "}");
    }
    put(w, "\n");
    put_shades(w, dark);
    if (!dark) {
        put(w, "@media (prefers-color-scheme:dark){\n");
        put_shades(w, true);
        put(w, "}\n");
    }
    put(w, "@media print{\n");
    put_shades(w, false);
    put(w, "}\n</style>\n");
}

static void put_hatch(struct writer *w, int ink, int hatch)
{
    size_t count;
    const struct ml_hatch_line *lines = ml_hatch_lines((enum ml_hatch)hatch, &count);

    put(w,
        "<pattern id=\"p%d-%d\" width=\"%d\" height=\"%d\" patternUnits=\"userSpaceOnUse\">"
        "<rect class=\"f%d\" width=\"%d\" height=\"%d\"/><path class=\"s%d p\" d=\"",
        ink, hatch, ML_HATCH_TILE_PX, ML_HATCH_TILE_PX, ink, ML_HATCH_TILE_PX, ML_HATCH_TILE_PX,
        ink == ML_INK_WHITE ? ML_INK_BLACK : ML_INK_TEXT);
    for (size_t i = 0; i < count; i++)
        put(w, "M%g %gL%g %g", lines[i].x0, lines[i].y0, lines[i].x1, lines[i].y1);
    put(w, "\"/></pattern>\n");
}

static void put_hatches(struct writer *w)
{
    bool any = false;

    for (int ink = 1; ink < ML_INKS; ink++)
        for (int hatch = 1; hatch < ML_HATCHES; hatch++)
            if (w->hatches[ink][hatch]) {
                put(w, "%s", any ? "" : "<defs>\n");
                put_hatch(w, ink, hatch);
                any = true;
            }
    put(w, "%s", any ? "</defs>\n" : "");
}

/* ---- Shapes ------------------------------------------------------------ */

static void put_points(struct writer *w, const struct ml_figure *s)
{
    char x[32], y[32], last_x[32] = "", last_y[32] = "";

    for (size_t i = 0; i < s->count; i++) {
        const struct ml_point *p = &w->canvas->points.items[s->first + i];

        if (p->to == ML_TO_CLOSE) {
            put(w, "Z");
            continue;
        }
        number(x, p->x);
        number(y, p->y);
        if (p->to == ML_TO_MOVE)
            put(w, "M%s %s", x, y);
        else if (strcmp(x, last_x) != 0 && strcmp(y, last_y) != 0)
            put(w, "L%s %s", x, y);
        else if (strcmp(x, last_x) != 0)
            put(w, "H%s", x);
        else if (strcmp(y, last_y) != 0)
            put(w, "V%s", y);
        memcpy(last_x, x, sizeof(x));
        memcpy(last_y, y, sizeof(y));
    }
}

static void put_pen(struct writer *w, const struct ml_pen *pen)
{
    put(w, " class=\"");
    if (pen->fill && !pen->hatch)
        put(w, "f%d", pen->fill);
    if (pen->stroke)
        put(w, " s%d", pen->stroke);
    if (pen->dash)
        put(w, " d%u", pen->dash);
    put(w, "\"");
    if (pen->fill && pen->hatch)
        put(w, " style=\"fill:url(#p%d-%d)\"", pen->fill, pen->hatch);
    if (pen->stroke && pen->width != 1)
        put_number(w, " stroke-width=\"", pen->width), put(w, "\"");
    if (pen->opacity < 1)
        put(w, " opacity=\"%.2f\"", pen->opacity);
}

static void put_path(struct writer *w, const struct ml_figure *s)
{
    const struct ml_point *first = &w->canvas->points.items[s->first];
    const char *name = s->radius > 0 ? "circle" : "path";

    if (s->count == 0)
        return;
    put(w, "<%s", name);
    put_pen(w, &s->pen);
    if (s->radius > 0) {
        put_number(w, " cx=\"", first->x);
        put_number(w, "\" cy=\"", first->y);
        put_number(w, "\" r=\"", s->radius);
    } else {
        put(w, " d=\"");
        put_points(w, s);
    }
    if (!s->pen.hover) {
        put(w, "\"/>\n");
        return;
    }
    put(w, "\"><title>");
    put_text(w, s->pen.hover);
    put(w, "</title></%s>\n", name);
}

static void put_letters(struct writer *w, const struct ml_figure *s, bool halo)
{
    static const char *const anchors[] = {"", " m", " e"};
    const struct ml_point *at = &w->canvas->points.items[s->first];
    const struct ml_lettering *l = &s->lettering;

    put(w, "<text class=\"%s%d%s%s\"", halo ? "h s" : "f", halo ? ML_INK_PAPER : l->ink,
        l->bold ? " b" : "", anchors[l->anchor]);
    if (l->size != ML_TEXT_PX)
        put_number(w, " style=\"font-size:", l->size), put(w, "px\"");
    if (l->degrees != 0) {
        put_number(w, " transform=\"translate(", at->x);
        put_number(w, " ", at->y);
        put_number(w, ") rotate(", l->degrees);
        put(w, ")\">");
    } else {
        put_number(w, " x=\"", at->x);
        put_number(w, "\" y=\"", at->y);
        put(w, "\">");
    }
    put_text(w, s->text);
    put(w, "</text>\n");
}

static void put_shape(struct writer *w, const struct ml_figure *s)
{
    if (!s->text) {
        put_path(w, s);
        return;
    }
    if (s->lettering.halo)
        put_letters(w, s, true);
    put_letters(w, s, false);
}

int ml_canvas_to_svg(const struct ml_canvas *canvas, bool dark, struct ml_buf *out)
{
    struct writer w = {.canvas = canvas, .out = out};

    note_inks(&w);
    w.inks[ML_INK_BLACK] = true; /* hatches on white */
    put(&w,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
        "viewBox=\"0 0 %u %u\" role=\"img\" aria-labelledby=\"title desc\">\n"
        "<title id=\"title\">",
        canvas->width, canvas->height, canvas->width, canvas->height);
    put_text(&w, canvas->title ? canvas->title : "");
    put(&w, "</title>\n<desc id=\"desc\">");
    put_text(&w, canvas->description ? canvas->description : "");
    put(&w, "</desc>\n");
    put_style(&w, dark);
    put_hatches(&w);
    put(&w, "<rect class=\"f%d\" width=\"100%%\" height=\"100%%\"/>\n", ML_INK_PAPER);
    for (size_t i = 0; i < canvas->shapes.len && w.error == 0; i++)
        put_shape(&w, &canvas->shapes.items[i]);
    put(&w, "</svg>\n");
    return w.error;
}
