/* plot_overlay.h: live bytes of several runs over time, in one picture.
 *
 * Lines with a light fill, each with its own colour and dash; names are at
 * the peaks, and a legend has their values.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REPORT_PLOT_OVERLAY_H
#define ML_REPORT_PLOT_OVERLAY_H

#include "plot_frame.h"
#include "timeline.h"

struct ml_plot_series {
    const char *name;
    const struct ml_timeline *timeline; /* all over the same span, in as many buckets */
    bool is_truth;           /* the driver's figure, drawn thin; after all others in the list */
    uint64_t baseline_bytes; /* subtracted from all values, which may become negative */
};

/* Columns of the drawing: buckets that timelines for it should have. */
size_t ml_plot_buckets(const struct ml_plot_opts *opts);

struct ml_overlay_words {
    const char *what;   /* title of the curves: "live memory" */
    const char *things; /* unit of the axis below if there are no times: "events" */
    const char *minus;  /* what the baselines are: "the first value"; NULL: none */
};

void ml_plot_overlay(struct ml_canvas *canvas, const struct ml_plot_series *series, size_t count,
                     size_t buckets, const struct ml_overlay_words *words,
                     const struct ml_plot_opts *opts);

/* ---- For other pictures with curves ------------------------------------ */

/* Appends the steps of a curve to the path begun: along to each bucket, then up and
 * down as it went. */
void ml_plot_steps(struct ml_canvas *canvas, const struct ml_plot_area *frame,
                   const struct ml_timeline *t, size_t buckets);

/* The whole curve as a line. */
void ml_plot_curve(struct ml_canvas *canvas, const struct ml_plot_area *frame,
                   const struct ml_timeline *t, size_t buckets, const struct ml_pen *pen);

#endif
