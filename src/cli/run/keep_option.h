/* keep_option.h: the value of `run --keep`: how much of a recording is kept.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CLI_KEEP_OPTION_H
#define ML_CLI_KEEP_OPTION_H

#include "window.h"

/* "10m", "500MB", or both with a comma between them.
 * @return 0, or -EINVAL with the reason */
int ml_keep_parse(const char *text, struct ml_window_limits *ret, struct ml_error *err);

#endif
