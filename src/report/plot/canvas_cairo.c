/* canvas_cairo.c: a canvas as PNG or PDF.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <math.h>

#include "cairo_library.h"
#include "canvas_parts.h"

#define POINTS_PER_PX 0.75 /* CSS: 96 pixels are an inch */
#define FONT "sans-serif"

struct painter {
    struct ml_cairo lib;
    struct cairo *cr;
    const struct ml_canvas *canvas;
    bool dark;
};

static void set_ink(struct painter *p, enum ml_ink ink, double opacity)
{
    uint32_t rgb = ml_ink_rgb(ink, p->dark);

    p->lib.set_source_rgba(p->cr, (rgb >> 16 & 255) / 255.0, (rgb >> 8 & 255) / 255.0,
                           (rgb & 255) / 255.0, opacity);
}

/* ---- Paths ------------------------------------------------------------- */

static void trace_path(struct painter *p, const struct ml_figure *s)
{
    const struct ml_point *points = &p->canvas->points.items[s->first];

    p->lib.new_path(p->cr);
    if (s->radius > 0 && s->count > 0) {
        p->lib.arc(p->cr, points->x, points->y, s->radius, 0, 2 * M_PI);
        return;
    }
    for (size_t i = 0; i < s->count; i++)
        switch (points[i].to) {
        case ML_TO_MOVE: p->lib.move_to(p->cr, points[i].x, points[i].y); break;
        case ML_TO_LINE: p->lib.line_to(p->cr, points[i].x, points[i].y); break;
        case ML_TO_CLOSE: p->lib.close_path(p->cr); break;
        }
}

static void trace_tile(struct painter *p, const struct ml_hatch_line *lines, size_t count, double x,
                       double y)
{
    for (size_t i = 0; i < count; i++) {
        p->lib.move_to(p->cr, x + lines[i].x0, y + lines[i].y0);
        p->lib.line_to(p->cr, x + lines[i].x1, y + lines[i].y1);
    }
}

/* Lines over the whole extent of the path, clipped at its edge. */
static void paint_hatch(struct painter *p, const struct ml_figure *s)
{
    size_t count;
    const struct ml_hatch_line *lines = ml_hatch_lines(s->pen.hatch, &count);
    double x0, y0, x1, y1;
    const double tile = ML_HATCH_TILE_PX;

    p->lib.save(p->cr);
    p->lib.path_extents(p->cr, &x0, &y0, &x1, &y1);
    p->lib.clip_preserve(p->cr);
    p->lib.new_path(p->cr);
    for (long row = lround(floor(y0 / tile)); (double)row * tile < y1; row++)
        for (long column = lround(floor(x0 / tile)); (double)column * tile < x1; column++)
            trace_tile(p, lines, count, (double)column * tile, (double)row * tile);
    set_ink(p, s->pen.fill == ML_INK_WHITE ? ML_INK_BLACK : ML_INK_TEXT,
            ML_HATCH_OPACITY * s->pen.opacity);
    p->lib.set_line_width(p->cr, 1);
    p->lib.set_dash(p->cr, NULL, 0, 0);
    p->lib.stroke(p->cr);
    p->lib.restore(p->cr);
}

static void paint_stroke(struct painter *p, const struct ml_figure *s)
{
    const double *lengths = ml_dash_lengths[s->pen.dash];
    int count = 0;

    while (count < ML_DASH_PARTS && lengths[count] > 0)
        count++;
    set_ink(p, s->pen.stroke, s->pen.opacity);
    p->lib.set_line_width(p->cr, s->pen.width);
    p->lib.set_dash(p->cr, lengths, count, 0);
    p->lib.stroke(p->cr);
}

static void paint_path(struct painter *p, const struct ml_figure *s)
{
    trace_path(p, s);
    if (s->pen.fill) {
        set_ink(p, s->pen.fill, s->pen.opacity);
        p->lib.fill_preserve(p->cr);
        if (s->pen.hatch) {
            paint_hatch(p, s);
            trace_path(p, s);
        }
    }
    if (s->pen.stroke)
        paint_stroke(p, s);
    p->lib.new_path(p->cr);
}

/* ---- Text -------------------------------------------------------------- */

static double start_of(struct painter *p, const struct ml_figure *s)
{
    struct ml_cairo_extents extents = {0};

    if (s->lettering.anchor == ML_ANCHOR_START)
        return 0;
    p->lib.text_extents(p->cr, s->text, &extents);
    return s->lettering.anchor == ML_ANCHOR_END ? -extents.x_advance : -extents.x_advance / 2;
}

static void paint_text(struct painter *p, const struct ml_figure *s)
{
    const struct ml_lettering *l = &s->lettering;
    const struct ml_point *at = &p->canvas->points.items[s->first];
    double x;

    if (s->count == 0)
        return;
    p->lib.save(p->cr);
    p->lib.select_font_face(p->cr, FONT, 0, l->bold ? ML_CAIRO_BOLD : 0);
    p->lib.set_font_size(p->cr, l->size);
    p->lib.translate(p->cr, at->x, at->y);
    p->lib.rotate(p->cr, l->degrees * M_PI / 180);
    x = start_of(p, s);
    if (l->halo) {
        p->lib.move_to(p->cr, x, 0);
        p->lib.text_path(p->cr, s->text);
        set_ink(p, ML_INK_PAPER, 1);
        p->lib.set_line_width(p->cr, ML_HALO_PX);
        p->lib.set_dash(p->cr, NULL, 0, 0);
        p->lib.stroke(p->cr);
    }
    set_ink(p, l->ink, 1);
    p->lib.move_to(p->cr, x, 0);
    p->lib.show_text(p->cr, s->text);
    p->lib.new_path(p->cr);
    p->lib.restore(p->cr);
}

/* ---- Files ------------------------------------------------------------- */

static int append(void *closure, const unsigned char *data, unsigned length)
{
    return ml_buf_append(closure, data, length) < 0 ? ML_CAIRO_WRITE_ERROR : 0;
}

static void paint_all(struct painter *p, double scale)
{
    p->lib.scale(p->cr, scale, scale);
    p->lib.set_line_join(p->cr, ML_CAIRO_JOIN_ROUND);
    set_ink(p, ML_INK_PAPER, 1);
    p->lib.paint(p->cr);
    for (size_t i = 0; i < p->canvas->shapes.len; i++) {
        const struct ml_figure *s = &p->canvas->shapes.items[i];

        if (s->text)
            paint_text(p, s);
        else
            paint_path(p, s);
    }
}

static struct cairo_surface *make_surface(struct painter *p, const struct ml_picture_opts *opts,
                                          struct ml_buf *out)
{
    const struct ml_canvas *c = p->canvas;
    struct cairo_surface *pdf;

    if (opts->format == ML_PICTURE_PNG)
        return p->lib.image_surface_create(ML_CAIRO_RGB24, (int)lround(c->width * opts->scale),
                                           (int)lround(c->height * opts->scale));
    pdf = p->lib.pdf_surface_create_for_stream(append, out, c->width * POINTS_PER_PX,
                                               c->height * POINTS_PER_PX);
    if (p->lib.pdf_surface_set_metadata && p->lib.surface_status(pdf) == 0) {
        p->lib.pdf_surface_set_metadata(pdf, ML_CAIRO_PDF_TITLE, c->title ? c->title : "");
        p->lib.pdf_surface_set_metadata(pdf, ML_CAIRO_PDF_SUBJECT,
                                        c->description ? c->description : "");
        p->lib.pdf_surface_set_metadata(pdf, ML_CAIRO_PDF_CREATOR, "memledger");
    }
    return pdf;
}

int ml_canvas_to_cairo(const struct ml_canvas *canvas, const struct ml_picture_opts *opts,
                       struct ml_buf *out, struct ml_error *err)
{
    struct painter p = {.canvas = canvas, .dark = opts->dark};
    struct cairo_surface *surface;
    int status, r = ml_cairo_open(&p.lib, err);

    if (r < 0)
        return r;
    surface = make_surface(&p, opts, out);
    p.cr = p.lib.create(surface);
    paint_all(&p, opts->format == ML_PICTURE_PNG ? opts->scale : POINTS_PER_PX);
    status = p.lib.status(p.cr);
    p.lib.destroy(p.cr);
    if (status == 0 && opts->format == ML_PICTURE_PNG)
        status = p.lib.surface_write_to_png_stream(surface, append, out);
    p.lib.surface_finish(surface);
    if (status == 0)
        status = p.lib.surface_status(surface);
    p.lib.surface_destroy(surface);
    if (status == 0)
        return 0;
    return ml_error_set(err, -EIO,
                        "Cairo cannot draw the picture: %s; make it smaller with --width, --height "
                        "or --scale, or write -o NAME.svg",
                        p.lib.status_to_string(status));
}
