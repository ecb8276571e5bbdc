/* live_screen.h: the lines of the live view.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TUI_LIVE_SCREEN_H
#define ML_TUI_LIVE_SCREEN_H

#include "live_model.h"
#include "screen_text.h"

/* Draws the view. The model's first row is moved so that the selected one is visible.
 * @file   the trace's name
 * @return the number of rows of a page */
size_t ml_live_screen(struct ml_live_model *model, const struct ml_live_view *view,
                      const char *file, struct ml_screen *screen);

/* A line of `columns` bars for the last seconds of a history, each of several if there are more.
 * In the screen's arena. */
const char *ml_sparkline(struct ml_screen *screen, const struct ml_second_history *history,
                         size_t columns);

#endif
