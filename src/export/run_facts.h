/* run_facts.h: named facts about the run as a whole: times, counts, then the settings of the
 * recording.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_EXPORT_RUN_FACTS_H
#define ML_EXPORT_RUN_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace.h"

/* Strings belong to the trace. */
struct ml_run_fact {
    const char *key;
    const char *text; /* NULL: it is a number */
    uint64_t number;
    bool unknown; /* an imported file lacked it; the number is a substitute */
};

/* @i      from 0 on
 * @return false after the last */
bool ml_run_fact(const struct ml_trace *trace, size_t i, struct ml_run_fact *ret);

#endif
