/* plot_series.h: the curves of a picture of several recordings.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CLI_PLOT_SERIES_H
#define ML_CLI_PLOT_SERIES_H

#include "sample_curves.h"
#include "plot_overlay.h"

/* One recording. */
struct ml_plot_run {
    const char *name;
    const char *device;          /* the only one to show; NULL: all */
    struct ml_timeline timeline; /* of the allocations */
    struct ml_sample_curves sampled;
};

typedef ML_VEC(struct ml_plot_series) ml_plot_series_list;

/* Whether the run has samples to draw and no allocations. */
bool ml_plot_run_is_sampled(const struct ml_plot_run *run);

/* One curve for each run: its allocations, or its samples if nothing
 * else was recorded. A single run shows more: besides its allocations the
 * driver's figures for their devices, or all samples.
 * @return 0 or -ENOMEM */
int ml_plot_choose(const struct ml_plot_run *runs, size_t count, ml_plot_series_list *ret);

#endif
