/* save_options.h: the values of `run --on-signal` and `--on-growth`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CLI_SAVE_OPTIONS_H
#define ML_CLI_SAVE_OPTIONS_H

#include "error.h"
#include "growth.h"

/* "USR1", "SIGUSR2", "hup". @return 0, or -EINVAL with the reason */
int ml_save_signal_parse(const char *text, int *ret, struct ml_error *err);

/* "10%/1h". @return 0, or -EINVAL with the reason */
int ml_save_growth_parse(const char *text, struct ml_growth_limit *ret, struct ml_error *err);

#endif
