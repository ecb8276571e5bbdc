/* option_value.h: stores the text of an option's value in its field.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CLI_OPTION_VALUE_H
#define ML_CLI_OPTION_VALUE_H

#include "options.h"

/* Checks `text` and stores it in the option's field of `opts`.
 * @shown  how the user wrote the option: "--limit", "-n", "MEMLEDGER_LIMIT"
 * @text   NULL: given without a value, which only flags and optional choices allow
 * @return 0 or -EINVAL with a sentence that names what is allowed */
int ml_option_set(const struct ml_option *option, void *opts, const char *shown, const char *text,
                  struct ml_error *err);

#endif
