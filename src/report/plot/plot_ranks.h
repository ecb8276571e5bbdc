/* plot_ranks.h: a map of ranks and steps: the peak of each rank in each step.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REPORT_PLOT_RANKS_H
#define ML_REPORT_PLOT_RANKS_H

#include "canvas.h"
#include "ranks.h"
#include "text.h"

/* A line for each rank, from the first step on the left; with more ranks than lines, the highest
 * peak of those that share one. The darker, the more memory. Ranks of a finding have a mark. */
void ml_plot_ranks(struct ml_canvas *canvas, const struct ml_ranks *ranks, enum ml_unit unit);

#endif
