/* export_sqlite.c: the whole trace as an SQLite database, written in one transaction.
 *
 * The file is temporary until it is complete, so SQLite needs neither a journal nor a sync.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <sqlite3.h>

#include "exporter.h"
#include "sqlite_tables.h"

static const char begin_sql[] = "PRAGMA page_size = 8192;"
                                "PRAGMA journal_mode = OFF;"
                                "PRAGMA synchronous = OFF;"
                                "PRAGMA locking_mode = EXCLUSIVE;"
                                "PRAGMA application_id = 0x4d4c4544;" /* "MLED" */
                                "PRAGMA user_version = 1;"
                                "BEGIN;";

static int execute(sqlite3 *db, const char *sql, const char *path, struct ml_error *err)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : ml_sqlite_fail(db, path, err);
}

static int write_database(sqlite3 *db, const struct ml_trace *trace,
                          const struct ml_export_opts *opts, const char *path, struct ml_error *err)
{
    int r = execute(db, begin_sql, path, err);

    if (r == 0)
        r = ml_sqlite_create(db, err);
    for (size_t i = 0; r == 0 && ml_sqlite_table(i); i++)
        r = ml_sqlite_fill(db, trace, i, ML_SQLITE_ALL_COLUMNS, opts->progress, err);
    return r < 0 ? r : execute(db, "COMMIT", path, err);
}

/* SQLite's messages for a full disk or a file that is too large do not name the reason. */
static int name_reason(sqlite3 *db, const struct ml_output *out, int r, struct ml_error *err)
{
    int reason = sqlite3_errcode(db) == SQLITE_FULL ? ENOSPC : sqlite3_system_errno(db);

    if (!reason)
        return r;
    err->text[0] = '\0';
    return ml_output_failed(out, -reason, err);
}

static int export_trace(const struct ml_trace *trace, const struct ml_export_opts *opts,
                        struct ml_output *out, struct ml_error *err)
{
    sqlite3 *db = NULL;
    int r = 0;

    if (sqlite3_open_v2(out->written, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) !=
        SQLITE_OK)
        r = db ? ml_sqlite_fail(db, out->path, err) : -ENOMEM;
    if (r == 0)
        r = write_database(db, trace, opts, out->path, err);
    if (r < 0 && db)
        r = name_reason(db, out, r, err);
    if (sqlite3_close(db) != SQLITE_OK && r == 0)
        r = ml_error_set(err, -EIO, "%s: cannot close the database", out->path);
    return r;
}

const struct ml_exporter ml_exporter_sqlite = {
    .name = "sqlite",
    .suffix = ".sqlite",
    .help = "all tables, and views; see memledger sql",
    .needs_file = true,
    .whole_run = true,
    .all_devices = true,
    .run = export_trace,
};
