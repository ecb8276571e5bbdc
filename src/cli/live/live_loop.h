/* live_loop.h: shows a followed recording until the user or the recording ends.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CLI_LIVE_LOOP_H
#define ML_CLI_LIVE_LOOP_H

#include "live_view.h"
#include "style.h"

/* On a terminal. @return 0 or negative errno */
int ml_live_on_terminal(struct ml_following *f, const char *file, enum ml_key by, double hz,
                        struct ml_error *err);

/* A line for each device, or with `json` an object in one line, every second until the recording
 * has ended.
 * @return 0 or negative errno */
int ml_live_in_lines(struct ml_following *f, const char *file,
                     const struct ml_live_question *question, bool json,
                     const struct ml_style *style, struct ml_error *err);

/* An object in one line for each line of standard input, until that ends.
 * @return 0 or negative errno */
int ml_live_on_request(struct ml_following *f, const char *file,
                       const struct ml_live_question *question, struct ml_error *err);

#endif
