/* plot_series.h: which curves a picture of some recordings has.
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
    struct ml_timeline timeline; /* of what was allocated */
    struct ml_sample_curves sampled;
};

typedef ML_VEC(struct ml_plot_series) ml_plot_series_list;

/* Whether the run has samples to draw and no allocations. */
bool ml_plot_run_is_sampled(const struct ml_plot_run *run);

/* One curve for each run: what was allocated, or what was sampled where nothing
 * else was recorded. A run that is alone shows more: beside its allocations what
 * the driver says of the devices that they are on, or all that was sampled.
 * @return 0 or -ENOMEM */
int ml_plot_choose(const struct ml_plot_run *runs, size_t count, ml_plot_series_list *ret);

#endif
