/* canvas.c: see canvas.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "canvas.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "canvas_parts.h"
#include "utf8.h"

void ml_canvas_release(struct ml_canvas *canvas)
{
    ml_arena_release(&canvas->arena);
    ml_vec_release(&canvas->shapes);
    ml_vec_release(&canvas->points);
    *canvas = (struct ml_canvas){0};
}

static void fail(struct ml_canvas *canvas)
{
    canvas->error = canvas->error ? canvas->error : -ENOMEM;
}

/* ---- Paths ------------------------------------------------------------- */

static void add_shape(struct ml_canvas *canvas, struct ml_figure shape)
{
    shape.first = canvas->points.len;
    shape.pen.dash %= ML_DASHES;
    if (shape.pen.opacity <= 0)
        shape.pen.opacity = 1;
    if (shape.pen.hover)
        shape.pen.hover = ml_canvas_printf(canvas, "%s", shape.pen.hover);
    if (canvas->error == 0 && ml_vec_push(&canvas->shapes, shape) < 0)
        fail(canvas);
}

/* Limits coordinates to what every format can write: a point may be far off the picture, or
 * undefined since a damaged trace has no scale. */
static double on_paper(double at)
{
    const double most = 1e6;

    return isnan(at) ? 0 : at > most ? most : at < -most ? -most : at;
}

static void add_point(struct ml_canvas *canvas, struct ml_point point)
{
    point.x = on_paper(point.x);
    point.y = on_paper(point.y);
    if (canvas->error < 0 || canvas->shapes.len == 0)
        return;
    if (ml_vec_push(&canvas->points, point) < 0)
        fail(canvas);
    else
        canvas->shapes.items[canvas->shapes.len - 1].count++;
}

void ml_draw_begin(struct ml_canvas *canvas, const struct ml_pen *pen)
{
    add_shape(canvas, (struct ml_figure){.pen = *pen});
}

void ml_draw_move(struct ml_canvas *canvas, double x, double y)
{
    add_point(canvas, (struct ml_point){x, y, ML_TO_MOVE});
}

void ml_draw_to(struct ml_canvas *canvas, double x, double y)
{
    add_point(canvas, (struct ml_point){x, y, ML_TO_LINE});
}

void ml_draw_close(struct ml_canvas *canvas)
{
    add_point(canvas, (struct ml_point){0, 0, ML_TO_CLOSE});
}

void ml_draw_line(struct ml_canvas *canvas, const struct ml_pen *pen, double x0, double y0,
                  double x1, double y1)
{
    ml_draw_begin(canvas, pen);
    ml_draw_move(canvas, x0, y0);
    ml_draw_to(canvas, x1, y1);
}

void ml_draw_box(struct ml_canvas *canvas, const struct ml_pen *pen, double x, double y,
                 double width, double height)
{
    ml_draw_begin(canvas, pen);
    ml_draw_move(canvas, x, y);
    ml_draw_to(canvas, x + width, y);
    ml_draw_to(canvas, x + width, y + height);
    ml_draw_to(canvas, x, y + height);
    ml_draw_close(canvas);
}

void ml_draw_circle(struct ml_canvas *canvas, const struct ml_pen *pen, double x, double y,
                    double radius)
{
    add_shape(canvas, (struct ml_figure){.pen = *pen, .radius = radius});
    add_point(canvas, (struct ml_point){x, y, ML_TO_MOVE});
}

/* ---- Text -------------------------------------------------------------- */

/* Adds the first character. @return its bytes */
static size_t add_character(struct ml_buf *out, const char *text, size_t len, int *error)
{
    uint32_t c = 0;
    size_t bytes = ml_utf8_decode(text, len, &c);

    if (bytes == 0 || c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xfffe || c == 0xffff) {
        bool blank = bytes && (c == '\t' || c == '\n');

        *error = ml_buf_puts(out, blank ? " " : "?");
        return bytes ? bytes : 1;
    }
    *error = ml_buf_append(out, text, bytes);
    return bytes;
}

static const char *clean(struct ml_canvas *canvas, const char *text)
{
    size_t len = strlen(text);
    const char *copy = NULL;
    struct ml_buf out;
    int error = 0;

    ml_buf_init(&out);
    while (len > 0 && error == 0) {
        size_t step = add_character(&out, text, len, &error);

        text += step;
        len -= step;
    }
    if (error == 0)
        copy = ml_arena_dup(&canvas->arena, out.data, out.len);
    ml_buf_release(&out);
    if (!copy)
        fail(canvas);
    return copy ? copy : "";
}

const char *ml_canvas_printf(struct ml_canvas *canvas, const char *fmt, ...)
{
    const char *copy = "";
    struct ml_buf out;
    va_list args;

    ml_buf_init(&out);
    va_start(args, fmt);
    if (ml_buf_vprintf(&out, fmt, args) < 0)
        fail(canvas);
    else if (out.len > 0)
        copy = clean(canvas, (const char *)out.data);
    va_end(args);
    ml_buf_release(&out);
    return copy;
}

void ml_draw_text(struct ml_canvas *canvas, const struct ml_lettering *lettering, double x,
                  double y, const char *text)
{
    struct ml_figure shape = {.text = clean(canvas, text), .lettering = *lettering};

    if (*text == '\0')
        return;
    if (shape.lettering.size <= 0)
        shape.lettering.size = ML_TEXT_PX;
    if (shape.lettering.ink == ML_INK_NONE)
        shape.lettering.ink = ML_INK_TEXT;
    add_shape(canvas, shape);
    add_point(canvas, (struct ml_point){x, y, ML_TO_MOVE});
}

/* ---- Output ------------------------------------------------------------ */

bool ml_picture_format_of(const char *path, enum ml_picture_format *ret)
{
    static const char *const ends[] = {".svg", ".png", ".pdf"};
    const char *dot = strrchr(path, '.');

    for (size_t i = 0; dot && i < 3; i++)
        if (strcasecmp(dot, ends[i]) == 0) {
            *ret = (enum ml_picture_format)i;
            return true;
        }
    return false;
}

int ml_canvas_write(const struct ml_canvas *canvas, const struct ml_picture_opts *opts,
                    struct ml_buf *out, struct ml_error *err)
{
    int r = canvas->error;

    if (r == 0 && opts->format == ML_PICTURE_SVG)
        r = ml_canvas_to_svg(canvas, opts->dark, out);
    else if (r == 0)
        r = ml_canvas_to_cairo(canvas, opts, out, err);
    if (r < 0 && err->text[0] == '\0')
        ml_error_set(err, r, "out of memory");
    return r;
}
