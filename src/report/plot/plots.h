/* plots.h: drawings of one result each. Those with curves over time have their own headers:
 * plot_overlay.h, plot_bands.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REPORT_PLOTS_H
#define ML_REPORT_PLOTS_H

#include "call_tree.h"
#include "grouping.h"
#include "lifetimes.h"
#include "module_tree.h"
#include "plot_frame.h"
#include "segment_map.h"

/* The same memory in stacked bars side by side, each by the categories of one dictionary:
 * "Layer" and "Data structure", as MXNet's script draws them. The largest category is red and on
 * top, the others are grey; memory that no keyword matched or that could not be tracked is white.
 * @subtitle  says which memory the bars show, "" for none */
void ml_plot_bars(struct ml_canvas *canvas, const struct ml_grouping *bars, size_t count,
                  const char *subtitle, const struct ml_plot_opts *opts);

struct ml_category_chart {
    const char *name; /* of the run, above its chart; "" for none */
    const struct ml_grouping *grouping;
};

struct ml_category_look {
    const char *subtitle; /* says which memory the charts show, "" for none */
    double min_percent;   /* categories with this share or less are left out; 0: none are */
    bool own_axes;        /* each chart has its own scale, else all have the same */
};

/* A bar for each category, the largest first, with its share; for several runs one chart each,
 * all in a grid. */
void ml_plot_categories(struct ml_canvas *canvas, const struct ml_category_chart *charts,
                        size_t count, const struct ml_category_look *look,
                        const struct ml_plot_opts *opts);

/* Modules with a smaller share than this are too narrow to be seen. */
#define ML_FLAME_MIN_PERCENT 0.05

/* Memory of each module at an instant, as a flame graph (the whole at the bottom) or an icicle
 * (the whole on top). The width of a box is its bytes; the last boxes of each branch are a
 * module's own memory, by category. The height follows from the depth of the tree unless one is
 * given. */
void ml_plot_flame(struct ml_canvas *canvas, const struct ml_module_tree *tree, bool icicle,
                   const struct ml_plot_opts *opts);

/* A figure of a run by call, in the same form: the width of a box is its share, its colour the
 * library of the function. */
void ml_plot_calls(struct ml_canvas *canvas, const struct ml_call_tree *tree, bool icicle,
                   const struct ml_plot_opts *opts);

/* The largest blocks as bars from allocation to free. The height follows from the number of
 * blocks unless one is given. */
void ml_plot_lifetimes(struct ml_canvas *canvas, const struct ml_lifetimes *lifetimes,
                       const struct ml_plot_opts *opts);

/* The map of segments: one row each, its blocks by category, holes in white. All rows have one
 * width; the larger a segment, the higher its row. The height follows from the number of
 * segments unless one is given. */
void ml_plot_segments(struct ml_canvas *canvas, const struct ml_segment_map *map,
                      const struct ml_plot_opts *opts);

#endif
