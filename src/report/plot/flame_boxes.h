/* flame_boxes.h: the boxes of a flame graph or icicle: rows of boxes whose widths are shares of a
 * whole. Only the drawings of trees include it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REPORT_FLAME_BOXES_H
#define ML_REPORT_FLAME_BOXES_H

#include "canvas.h"
#include "plot_frame.h"

struct ml_flame_boxes {
    struct ml_canvas *canvas;
    const struct ml_plot_opts *opts;
    bool icicle;
    uint64_t total; /* the whole */
    double left, right, top, row_px;
    size_t levels; /* with the whole */
};

/* Chooses the place of the rows below y, and the picture's height unless one is given. */
void ml_flame_place(struct ml_flame_boxes *f, size_t levels, double y);

double ml_flame_width(const struct ml_flame_boxes *f, uint64_t part);

/* Draws a box unless it is too narrow to be seen.
 * @level  0 for the whole */
void ml_flame_box(const struct ml_flame_boxes *f, size_t level, double x, double width,
                  struct ml_pen pen, const char *name, const char *hover);

#endif
