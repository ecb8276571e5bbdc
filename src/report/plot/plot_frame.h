/* plot_frame.h: the parts that pictures share: title, axes, legend.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REPORT_PLOT_FRAME_H
#define ML_REPORT_PLOT_FRAME_H

#include "canvas.h"
#include "snapshot.h"
#include "svg_scale.h"
#include "text.h"

/* Options of every picture. */
struct ml_plot_opts {
    const char *title;
    unsigned width, height; /* pixels; a height of 0: as the drawing needs */
    enum ml_unit unit;
    const char *device; /* the only one shown; NULL: all */
    const char *others; /* a line about what is not shown; NULL: everything is */
    bool adds_devices;  /* several are shown as their sum */
    bool no_times;      /* the recordings have none: the axis counts events instead */
    const struct ml_occasions *occasions; /* of one recording; NULL: not known */
};

#define ML_PLOT_MARGIN_PX 16
#define ML_PLOT_LINE_PX (ML_TEXT_PX + 8)
#define ML_PLOT_AXIS_LEFT_PX 78
#define ML_PLOT_AXIS_BELOW_PX 52

/* An area with axes. */
struct ml_plot_area {
    double left, right, top, bottom;
    struct ml_scale bytes, time;
    double from_ns;         /* the time at the left edge */
    double baseline;        /* subtracted from the bytes of every point */
    const char *time_words; /* title of the axis below: "time since … (ms)" */
};

/* The canvas's size and names, its title and a quiet line below it, which may be "".
 * @return the y below them */
double ml_frame_title(struct ml_canvas *canvas, const struct ml_plot_opts *opts,
                      const char *subtitle);

/* "1.20 GiB live in 340 blocks on cuda:0 at 12.3 ms (peak)". */
const char *ml_frame_instant(struct ml_canvas *canvas, const struct ml_snapshot *at,
                             enum ml_unit unit);

/* "live memory on cuda:0", if only one device is shown. */
const char *ml_plot_on_device(struct ml_canvas *canvas, const char *what,
                              const struct ml_plot_opts *opts);

/* The area between `top` and the axis below; at least 10 pixels each way. */
void ml_frame_place(struct ml_plot_area *frame, const struct ml_canvas *canvas, double top);

/* Sets up the axis below: the time from `from_ns` on, or the number of `things`
 * ("events", "samples") if the recordings have no times. */
void ml_frame_time(struct ml_plot_area *frame, struct ml_canvas *canvas,
                   const struct ml_plot_opts *opts, uint64_t from_ns, uint64_t span_ns,
                   const char *things);

/* Makes room for a line of text above the highest value. */
void ml_frame_raise(struct ml_plot_area *frame, double pixels);

double ml_frame_x(const struct ml_plot_area *frame, double time_ns);
double ml_frame_y(const struct ml_plot_area *frame, double bytes);

/* The marks of the time axis, from 0 on. @return false: there is no further one */
bool ml_frame_mark(const struct ml_plot_area *frame, int i, double *ret);

/* Marks and grid, with the title of the vertical axis; marks of time below. */
void ml_frame_byte_axis(struct ml_canvas *canvas, const struct ml_plot_area *frame,
                        const char *what);
void ml_frame_time_axis(struct ml_canvas *canvas, const struct ml_plot_area *frame);

/* ---- Legend ------------------------------------------------------------ */

struct ml_legend_entry {
    const char *name;
    const char *value; /* in quiet text after the name; "" for none */
    struct ml_pen pen; /* of the swatch */
    bool line;         /* the swatch is a line, else a box */
};

/* Entries from left to right, as many lines as they need; draws unless `draw` is false.
 * @return the y below the last line */
double ml_legend(struct ml_canvas *canvas, const struct ml_legend_entry *entries, size_t count,
                 double left, double right, double y, bool draw);

/* ---- Parts ------------------------------------------------------------- */

/* Ink and hatch of a part of a whole by its number, of a category by its own. */
struct ml_pen ml_part_pen(size_t part);

/* "optimizer state", for people. */
const char *ml_category_words(struct ml_canvas *canvas, uint64_t category);

#endif
