/* plot_title.h: the titles of pictures, which keep the names of the runs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CLI_PLOT_TITLE_H
#define ML_CLI_PLOT_TITLE_H

#include "arena.h"
#include "plot_request.h"

/* The title of a picture of one run: the --title, else the run's command, else its name. If it is
 * one of several pictures, the run's name comes first: "fft: VGG-19".
 * @title   the --title, or NULL
 * @return  in the arena or one of the texts; NULL without memory */
const char *ml_plot_title_of_run(const struct ml_trace *trace, const char *name, const char *title,
                                 bool of_several, struct ml_arena *arena);

/* The title of a picture of several runs, or of the kind if there is none yet: the --title, else
 * the name that the runs share and `words`: "vgg19: live memory over time". */
const char *ml_plot_title_of_runs(const struct ml_plot_request *request, struct ml_canvas *canvas,
                                  const char *words);

#endif
