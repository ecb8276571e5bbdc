/* run_facts.h: what a trace says of its run as a whole, by name: times, counts, then the
 * settings that it was recorded with.
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
    bool unknown; /* the number stands in for one that an imported file did not tell */
};

/* @i      from 0 on
 * @return false behind the last */
bool ml_run_fact(const struct ml_trace *trace, size_t i, struct ml_run_fact *ret);

#endif
