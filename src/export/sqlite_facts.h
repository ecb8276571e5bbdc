/* sqlite_facts.h: the tables of a database that a replay computes: the run as a whole, its
 * steps, and when processes ended; and the views.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_EXPORT_SQLITE_FACTS_H
#define ML_EXPORT_SQLITE_FACTS_H

#include <stddef.h>

#include "error.h"
#include "trace.h"

struct sqlite3;

extern const char ml_sqlite_facts_schema[];

/* @return NULL after the last */
const char *ml_sqlite_facts_name(size_t i);

/* @return 0 or negative errno */
int ml_sqlite_facts_fill(struct sqlite3 *db, const struct ml_trace *trace, size_t i,
                         struct ml_error *err);

#endif
