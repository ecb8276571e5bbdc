/* live_target.h: the recording that a command about running programs is asked to look at: a file,
 * or the number of a process that is being recorded.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CLI_LIVE_TARGET_H
#define ML_CLI_LIVE_TARGET_H

#include <stdbool.h>

#include "error.h"
#include "style.h"
#include "vec.h"

/* Finds the trace. A name of digits is a process, unless there is such a file.
 * @ret_path  to be freed
 * @return 0, -ESRCH if no recording has that process, or another negative errno */
int ml_live_target(const char *operand, char **ret_path, struct ml_error *err);

/* A table of the recordings that go on now, or a sentence if there are none.
 * @return 0 or negative errno */
int ml_live_list(bool json, const struct ml_style *style, struct ml_buf *out, struct ml_error *err);

#endif
