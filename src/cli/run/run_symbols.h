/* run_symbols.h: source lines for a recording that has just ended.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_RUN_SYMBOLS_H
#define ML_RUN_SYMBOLS_H

#include <stdbool.h>

#include "launch.h"
#include "ring.h"

/* Adds symbols to the trace; a signal that asks us to end ends this, and the trace has function
 * names only. Updates the size of the file in the page. */
void ml_run_symbols(const char *trace, bool quiet, const struct ml_launch *launch,
                    struct ml_session *page);

#endif
