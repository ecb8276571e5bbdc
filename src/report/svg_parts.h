/* svg_parts.h: the pieces that svg_plot.c puts together. Only the plot includes
 * it. Errors are kept in the drawing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REPORT_SVG_PARTS_H
#define ML_REPORT_SVG_PARTS_H

#include "svg_plot.h"
#include "svg_scale.h"

#define ML_SVG_TEXT_PX 13 /* size of ordinary text */

struct ml_svg {
    struct ml_buf *out;
    int error; /* the first failure */
    const struct ml_plot_series *series;
    size_t count;
    size_t buckets;
    const struct ml_plot_opts *opts;
    double left, right, top, bottom; /* of the area with the curves */
    struct ml_scale bytes, time;
};

void ml_svg_put(struct ml_svg *svg, const char *fmt, ...) ML_PRINTF(2, 3);

/* Text with what XML gives a meaning to written as entities. */
void ml_svg_put_text(struct ml_svg *svg, const char *text);

/* How wide text will be, about, since fonts differ. */
double ml_svg_text_width(const char *text, double size_px);

double ml_svg_x(const struct ml_svg *svg, double time_ns);
double ml_svg_y(const struct ml_svg *svg, double bytes);

/* The style sheet: classes l0, l1, … for lines, f0, f1, … for what they fill. */
void ml_svg_put_style(struct ml_svg *svg);

void ml_svg_put_axes(struct ml_svg *svg);
void ml_svg_put_curves(struct ml_svg *svg);

/* The legend, whose first line is at y. @return the y below its last line */
double ml_svg_put_legend(struct ml_svg *svg, double y);

/* The height that the legend takes. */
double ml_svg_legend_height(const struct ml_svg *svg);

/* Names at the peaks, where they do not cover each other. */
void ml_svg_put_names(struct ml_svg *svg);

#endif
