/* plot_bars.h: the same memory in stacked bars side by side, each by the categories of
 * one dictionary: "Layer" and "Data structure", as MXNet's script draws them. The largest
 * category is red and on top, the others are grey, what no keyword matched and what
 * could not be tracked white.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REPORT_PLOT_BARS_H
#define ML_REPORT_PLOT_BARS_H

#include "grouping.h"
#include "plot_frame.h"

/* @subtitle  what the bars are of, "" for nothing */
void ml_plot_bars(struct ml_canvas *canvas, const struct ml_grouping *bars, size_t count,
                  const char *subtitle, const struct ml_plot_opts *opts);

#endif
