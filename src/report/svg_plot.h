/* svg_plot.h: live bytes of several runs over time, in one SVG picture.
 *
 * Lines with a light fill, each with a colour and a dash pattern of its own, so
 * that it can be read without colours; names stand at the peaks, and a legend
 * tells their values. The picture has no outside parts, follows a dark screen,
 * and prints on white.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REPORT_SVG_PLOT_H
#define ML_REPORT_SVG_PLOT_H

#include "text.h"
#include "timeline.h"
#include "vec.h"

struct ml_plot_series {
    const char *name;
    const struct ml_timeline *timeline; /* all over the same span, in as many buckets */
    bool is_truth; /* what the driver says, drawn thin; behind all others in the list */
};

struct ml_plot_opts {
    const char *title;
    const char *what;       /* that the curves show: "live memory" */
    unsigned width, height; /* pixels */
    bool dark;              /* dark also where the screen is not */
    enum ml_unit unit;
};

/* Columns of the drawing: buckets that timelines for it should have. */
size_t ml_svg_plot_buckets(const struct ml_plot_opts *opts);

/* Appends the picture. @return 0 or negative errno */
int ml_svg_plot(const struct ml_plot_series *series, size_t count, size_t buckets,
                const struct ml_plot_opts *opts, struct ml_buf *out);

#endif
