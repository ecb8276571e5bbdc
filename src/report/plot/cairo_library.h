/* cairo_library.h: the functions of Cairo that draw a canvas as PNG and PDF.
 *
 * It is loaded at run time and its types are declared here, so that memledger builds and runs
 * without it and the release tarball stays one file. The functions are those of its
 * stable interface since 1.2; PDF metadata came with 1.16 and may be missing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REPORT_CAIRO_LIBRARY_H
#define ML_REPORT_CAIRO_LIBRARY_H

#include "error.h"

struct cairo;
struct cairo_surface;

/* cairo_text_extents_t */
struct ml_cairo_extents {
    double x_bearing, y_bearing, width, height, x_advance, y_advance;
};

/* cairo_write_func_t. @return 0, or ML_CAIRO_WRITE_ERROR */
typedef int ml_cairo_write_fn(void *closure, const unsigned char *data, unsigned length);

enum {
    ML_CAIRO_WRITE_ERROR = 11, /* CAIRO_STATUS_WRITE_ERROR */
    ML_CAIRO_RGB24 = 1,        /* CAIRO_FORMAT_RGB24 */
    ML_CAIRO_JOIN_ROUND = 1,   /* CAIRO_LINE_JOIN_ROUND */
    ML_CAIRO_BOLD = 1,         /* CAIRO_FONT_WEIGHT_BOLD */
    ML_CAIRO_PDF_TITLE = 0,    /* CAIRO_PDF_METADATA_TITLE */
    ML_CAIRO_PDF_SUBJECT = 2,  /* CAIRO_PDF_METADATA_SUBJECT */
    ML_CAIRO_PDF_CREATOR = 4,  /* CAIRO_PDF_METADATA_CREATOR */
};

/* The required functions: result, name after "cairo_", arguments. */
#define ML_CAIRO_FUNCTIONS(F)                                                                      \
    F(struct cairo_surface *, image_surface_create, (int format, int width, int height))           \
    F(struct cairo_surface *, pdf_surface_create_for_stream,                                       \
      (ml_cairo_write_fn * write, void *closure, double width_pt, double height_pt))               \
    F(int, surface_write_to_png_stream,                                                            \
      (struct cairo_surface * surface, ml_cairo_write_fn * write, void *closure))                  \
    F(int, surface_status, (struct cairo_surface * surface))                                       \
    F(void, surface_finish, (struct cairo_surface * surface))                                      \
    F(void, surface_destroy, (struct cairo_surface * surface))                                     \
    F(struct cairo *, create, (struct cairo_surface * surface))                                    \
    F(int, status, (struct cairo * cr))                                                            \
    F(const char *, status_to_string, (int status))                                                \
    F(void, destroy, (struct cairo * cr))                                                          \
    F(void, save, (struct cairo * cr))                                                             \
    F(void, restore, (struct cairo * cr))                                                          \
    F(void, scale, (struct cairo * cr, double x, double y))                                        \
    F(void, translate, (struct cairo * cr, double x, double y))                                    \
    F(void, rotate, (struct cairo * cr, double radians))                                           \
    F(void, set_source_rgba,                                                                       \
      (struct cairo * cr, double red, double green, double blue, double alpha))                    \
    F(void, set_line_width, (struct cairo * cr, double width))                                     \
    F(void, set_line_join, (struct cairo * cr, int join))                                          \
    F(void, set_dash, (struct cairo * cr, const double *dashes, int count, double offset))         \
    F(void, new_path, (struct cairo * cr))                                                         \
    F(void, move_to, (struct cairo * cr, double x, double y))                                      \
    F(void, line_to, (struct cairo * cr, double x, double y))                                      \
    F(void, close_path, (struct cairo * cr))                                                       \
    F(void, arc, (struct cairo * cr, double x, double y, double radius, double from, double to))   \
    F(void, path_extents, (struct cairo * cr, double *x0, double *y0, double *x1, double *y1))     \
    F(void, fill, (struct cairo * cr))                                                             \
    F(void, fill_preserve, (struct cairo * cr))                                                    \
    F(void, stroke, (struct cairo * cr))                                                           \
    F(void, clip_preserve, (struct cairo * cr))                                                    \
    F(void, paint, (struct cairo * cr))                                                            \
    F(void, select_font_face, (struct cairo * cr, const char *family, int slant, int weight))      \
    F(void, set_font_size, (struct cairo * cr, double size))                                       \
    F(void, text_extents, (struct cairo * cr, const char *text, struct ml_cairo_extents *ret))     \
    F(void, text_path, (struct cairo * cr, const char *text))                                      \
    F(void, show_text, (struct cairo * cr, const char *text))

struct ml_cairo {
/* NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration has no place for them */
#define ML_CAIRO_FIELD(result, name, args) result(*name) args;
    ML_CAIRO_FUNCTIONS(ML_CAIRO_FIELD)
#undef ML_CAIRO_FIELD
    void (*pdf_surface_set_metadata)(struct cairo_surface *surface, int what, const char *text);
};

/* Opens the library, once. @return 0, or -ENOSYS and `err` names the way out */
int ml_cairo_open(struct ml_cairo *ret, struct ml_error *err);

#endif
