/* plot_bands.h: live bytes of one run over time as stacked areas, with the driver's
 * figure of memory in use as lines above them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REPORT_PLOT_BANDS_H
#define ML_REPORT_PLOT_BANDS_H

#include "bands.h"
#include "plot_overlay.h"

/* Buckets that the bands should have: one for each column. */
size_t ml_plot_band_buckets(const struct ml_plot_opts *opts);

/* @truth    the driver's figures: curves over the same span
 * @buckets  of the bands and of the curves */
void ml_plot_bands(struct ml_canvas *canvas, const struct ml_bands *bands,
                   const struct ml_plot_series *truth, size_t truth_count, size_t buckets,
                   const struct ml_plot_opts *opts);

#endif
