/* plot_categories.h: a bar for each category, the largest first, with its share; of
 * several runs one chart each, all in a grid and on one scale.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REPORT_PLOT_CATEGORIES_H
#define ML_REPORT_PLOT_CATEGORIES_H

#include "grouping.h"
#include "plot_frame.h"

struct ml_category_chart {
    const char *name; /* of the run, above its chart; "" for none */
    const struct ml_grouping *grouping;
};

/* @subtitle     what the charts are of, "" for nothing
 * @min_percent  categories with this share or less are left out; 0: none are */
void ml_plot_categories(struct ml_canvas *canvas, const struct ml_category_chart *charts,
                        size_t count, double min_percent, const char *subtitle,
                        const struct ml_plot_opts *opts);

#endif
