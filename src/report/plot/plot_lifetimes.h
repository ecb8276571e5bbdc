/* plot_lifetimes.h: the largest blocks as bars from birth to free.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REPORT_PLOT_LIFETIMES_H
#define ML_REPORT_PLOT_LIFETIMES_H

#include "lifetimes.h"
#include "plot_frame.h"

/* The height follows from the number of blocks unless one is asked for. */
void ml_plot_lifetimes(struct ml_canvas *canvas, const struct ml_lifetimes *lifetimes,
                       const struct ml_plot_opts *opts);

#endif
