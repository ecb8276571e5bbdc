/* canvas.h: a picture as paths and texts, before it becomes SVG, PNG or PDF.
 *
 * A drawing puts paths and texts on a canvas, in pixels from the upper left corner.
 * Colours are inks: each has one shade for paper and one for a dark screen, so that
 * the same drawing serves both, and an SVG follows the screen. Shapes that differ in
 * colour also differ in hatch or dash, for print in black and white.
 *
 * A failure is kept in the canvas; further drawing does nothing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REPORT_CANVAS_H
#define ML_REPORT_CANVAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "compiler.h"
#include "error.h"
#include "vec.h"

#define ML_TEXT_PX 13 /* size of ordinary text */

#define ML_PARTS_MAX 13  /* inks for parts of a whole */
#define ML_SERIES_MAX 10 /* inks for curves */
#define ML_GREYS_MAX 8   /* from dark to light */

enum ml_ink {
    ML_INK_NONE,
    ML_INK_PAPER,
    ML_INK_TEXT,
    ML_INK_QUIET, /* secondary text */
    ML_INK_GRID,
    ML_INK_AXIS,
    ML_INK_EDGE,  /* around pale colours */
    ML_INK_WHITE, /* also on a dark screen */
    ML_INK_BLACK,
    ML_INK_RED,
    ML_INK_GREY,
    ML_INK_PART = ML_INK_GREY + ML_GREYS_MAX, /* text is readable on them */
    ML_INK_SERIES = ML_INK_PART + ML_PARTS_MAX,
    ML_INKS = ML_INK_SERIES + ML_SERIES_MAX,
};

enum ml_hatch {
    ML_HATCH_NONE,
    ML_HATCH_RISING,
    ML_HATCH_FALLING,
    ML_HATCH_LEVEL,
    ML_HATCH_UPRIGHT,
    ML_HATCH_CROSSED,
    ML_HATCH_DOTTED,
    ML_HATCH_DENSE, /* rising, narrow */
    ML_HATCHES,
};

#define ML_DASHES 6 /* 0: none; higher numbers repeat */

/* How a path looks. All zero draws nothing. */
struct ml_pen {
    enum ml_ink fill, stroke;
    double width;   /* of the stroke */
    double opacity; /* of both; 0: 1 */
    enum ml_hatch hatch;
    unsigned dash;
    const char *hover; /* shown by an SVG under the pointer; copied; NULL: nothing */
};

enum ml_anchor { ML_ANCHOR_START, ML_ANCHOR_MIDDLE, ML_ANCHOR_END };

struct ml_lettering {
    enum ml_ink ink; /* ML_INK_NONE: ML_INK_TEXT */
    double size;     /* 0: ML_TEXT_PX */
    enum ml_anchor anchor;
    double degrees; /* rotation, clockwise */
    bool bold;
    bool halo; /* with paper around the letters */
};

struct ml_point {
    double x, y;
    enum { ML_TO_MOVE, ML_TO_LINE, ML_TO_CLOSE } to;
};

struct ml_figure {
    struct ml_pen pen;
    size_t first, count; /* of the points; one for a text or a circle */
    double radius;       /* of a circle; else 0 */
    const char *text;    /* NULL: a path */
    struct ml_lettering lettering;
};

struct ml_canvas {
    unsigned width, height;
    const char *title, *description; /* for screen readers */
    struct ml_arena arena;
    ML_VEC(struct ml_figure) shapes;
    ML_VEC(struct ml_point) points;
    int error; /* the first failure */
};

/* All zero is a valid empty canvas. */
void ml_canvas_release(struct ml_canvas *canvas);

/* ---- Paths ------------------------------------------------------------- */

/* Begins a path; the points that follow belong to it. */
void ml_draw_begin(struct ml_canvas *canvas, const struct ml_pen *pen);
void ml_draw_move(struct ml_canvas *canvas, double x, double y);
void ml_draw_to(struct ml_canvas *canvas, double x, double y);
void ml_draw_close(struct ml_canvas *canvas);

/* Whole paths. */
void ml_draw_line(struct ml_canvas *canvas, const struct ml_pen *pen, double x0, double y0,
                  double x1, double y1);
void ml_draw_box(struct ml_canvas *canvas, const struct ml_pen *pen, double x, double y,
                 double width, double height);
void ml_draw_circle(struct ml_canvas *canvas, const struct ml_pen *pen, double x, double y,
                    double radius);

/* ---- Text -------------------------------------------------------------- */

/* y is the base line. The text is copied; invalid characters become "?". */
void ml_draw_text(struct ml_canvas *canvas, const struct ml_lettering *lettering, double x,
                  double y, const char *text);

/* Cut to `room` pixels, with "…" at its end; nothing if not even two letters fit. */
void ml_draw_text_within(struct ml_canvas *canvas, const struct ml_lettering *lettering, double x,
                         double y, double room, const char *text);

/* An upper estimate of the text's width; fonts differ. */
double ml_text_width(const char *text, double size_px, bool bold);

/* Text in the canvas's arena, never NULL: "" if memory runs out. */
const char *ml_canvas_printf(struct ml_canvas *canvas, const char *fmt, ...) ML_PRINTF(2, 3);

/* ---- Output ------------------------------------------------------------ */

enum ml_picture_format { ML_PICTURE_SVG, ML_PICTURE_PNG, ML_PICTURE_PDF };

struct ml_picture_opts {
    enum ml_picture_format format;
    bool dark;    /* for an SVG: even on a light screen */
    double scale; /* for a PNG: its pixels per canvas pixel */
};

/* By the suffix of the file's name. @return false: it is unknown */
bool ml_picture_format_of(const char *path, enum ml_picture_format *ret);

/* Appends the file's bytes. PNG and PDF need the Cairo library on the machine.
 * @return 0 or negative errno: -ENOSYS without Cairo, and `err` names the way out */
int ml_canvas_write(const struct ml_canvas *canvas, const struct ml_picture_opts *opts,
                    struct ml_buf *out, struct ml_error *err);

#endif
