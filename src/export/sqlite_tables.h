/* sqlite_tables.h: a trace in an SQLite database: the tables of memledger.read with the same
 * names and columns, facts about the run, and views. docs/sqlite.md describes them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_EXPORT_SQLITE_TABLES_H
#define ML_EXPORT_SQLITE_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"
#include "progress.h"
#include "trace.h"

struct sqlite3;

/* Creates all tables and views, without rows.
 * @return 0 or negative errno, as all of these */
int ml_sqlite_create(struct sqlite3 *db, struct ml_error *err);

/* The tables that ml_sqlite_fill knows, by number. @return NULL after the last */
const char *ml_sqlite_table(size_t i);

#define ML_SQLITE_ALL_COLUMNS UINT64_MAX

/* The number of a column of such a table; -1: no such column. */
int ml_sqlite_column(size_t table, const char *name);

/* Inserts the rows of one table, within the caller's transaction.
 * @columns   a bit for each column that is needed; the others stay null
 * @progress  may be NULL */
int ml_sqlite_fill(struct sqlite3 *db, const struct ml_trace *trace, size_t table, uint64_t columns,
                   struct ml_progress *progress, struct ml_error *err);

/* Reports SQLite's error message. */
int ml_sqlite_fail(struct sqlite3 *db, const char *doing, struct ml_error *err);

#endif
