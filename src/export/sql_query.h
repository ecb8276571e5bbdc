/* sql_query.h: questions to a trace in SQL, or to a database that was exported from one.
 *
 * A trace has no database. One is made for the question, in a temporary file that SQLite
 * keeps in memory while it is small, with the tables and columns that the question
 * mentions and no others. Nothing but reading is allowed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_EXPORT_SQL_QUERY_H
#define ML_EXPORT_SQL_QUERY_H

#include <stdbool.h>
#include <stdint.h>

#include "error.h"
#include "progress.h"
#include "trace.h"

struct sqlite3;
struct sqlite3_stmt;

#define ML_SQL_TABLES_MAX 32

struct ml_sql {
    struct sqlite3 *db;
    const struct ml_trace *trace;       /* NULL: the database is a file */
    uint64_t wanted[ML_SQL_TABLES_MAX]; /* by table, its columns; see sqlite_tables.h */
    bool whole_tables;                  /* which columns are needed is not known */
    char denied[64];                    /* what the question was not allowed to do */
};

/* Whether the file is an SQLite database; false also when it cannot be read. */
bool ml_sql_is_database(const char *path);

/* @sql    to be closed, after a failure too
 * @return 0 or negative errno, as all of these */
int ml_sql_open_file(struct ml_sql *sql, const char *path, struct ml_error *err);

/* The trace must outlive it. */
int ml_sql_open_trace(struct ml_sql *sql, const struct ml_trace *trace, struct ml_error *err);
void ml_sql_close(struct ml_sql *sql);

/* Reads what the question needs and makes it ready for sqlite3_step.
 * @progress  may be NULL
 * @ret       to be finalized before the database is closed */
int ml_sql_prepare(struct ml_sql *sql, const char *question, struct ml_progress *progress,
                   struct sqlite3_stmt **ret, struct ml_error *err);

/* A question whose answer is all tables and views with their columns: name, kind, columns
 * with a space between two. */
int ml_sql_prepare_list(struct ml_sql *sql, struct sqlite3_stmt **ret, struct ml_error *err);

#endif
