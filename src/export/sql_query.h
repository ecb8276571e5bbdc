/* sql_query.h: SQL queries on a trace, or on a database that was exported from one.
 *
 * For a trace, each query gets a temporary database with only the tables and columns that it
 * mentions; SQLite keeps it in memory while it is small. Only reading is allowed.
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
    bool whole_tables;                  /* the needed columns are unknown */
    char denied[64];                    /* the action that was denied */
};

/* Whether the file is an SQLite database; false also when it cannot be read. */
bool ml_sql_is_database(const char *path);

/* @sql    the caller closes it, also after a failure
 * @return 0 or negative errno, as all of these */
int ml_sql_open_file(struct ml_sql *sql, const char *path, struct ml_error *err);

/* The trace must outlive it. */
int ml_sql_open_trace(struct ml_sql *sql, const struct ml_trace *trace, struct ml_error *err);
void ml_sql_close(struct ml_sql *sql);

/* Reads the tables that the query needs and prepares it for sqlite3_step.
 * @progress  may be NULL
 * @ret       the caller finalizes it before it closes the database */
int ml_sql_prepare(struct ml_sql *sql, const char *question, struct ml_progress *progress,
                   struct sqlite3_stmt **ret, struct ml_error *err);

/* A query that lists all tables and views: name, kind, columns separated by spaces. */
int ml_sql_prepare_list(struct ml_sql *sql, struct sqlite3_stmt **ret, struct ml_error *err);

#endif
