/* baseline_option.h: the option --baseline: what is subtracted from each curve.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CLI_BASELINE_OPTION_H
#define ML_CLI_BASELINE_OPTION_H

#include "canvas.h"
#include "curve_baseline.h"
#include "verbs.h"

/* The words that the option takes besides a size. @return NULL after the last */
const char *ml_baseline_word(size_t i);

/* Parses "first", "min" or a size; NULL means no baseline.
 * @return -1, or the exit code after an error was printed */
int ml_baseline_parse(const struct ml_verb *verb, const char *text, struct ml_baseline *ret);

/* "the first value", for the title of an axis. @return NULL without a baseline */
const char *ml_baseline_words(const struct ml_baseline *baseline, struct ml_canvas *canvas);

#endif
