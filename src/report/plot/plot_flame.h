/* plot_flame.h: what each module held at an instant, as a flame graph (the whole at
 * the bottom) or an icicle (the whole on top). The width of a box is its bytes; the
 * last box of each branch is what a module has itself, by category.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REPORT_PLOT_FLAME_H
#define ML_REPORT_PLOT_FLAME_H

#include "module_tree.h"
#include "plot_frame.h"

/* Modules with a smaller share than this are too narrow to be seen. */
#define ML_FLAME_MIN_PERCENT 0.05

/* The height follows from the depth of the tree unless one is asked for. */
void ml_plot_flame(struct ml_canvas *canvas, const struct ml_module_tree *tree, bool icicle,
                   const struct ml_plot_opts *opts);

#endif
