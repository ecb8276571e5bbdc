/* sql_query.c: see sql_query.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sql_query.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sql_rights.h"
#include "sqlite_tables.h"
#include "vec.h"

#define NEEDED (UINT64_C(1) << 63) /* the table itself is needed, even without columns */

#define HEADER_BYTES 20
#define READ_VERSION 19 /* in the header */

static const char magic[16] = "SQLite format 3";

static const char temporary_sql[] = "PRAGMA journal_mode = OFF;"
                                    "PRAGMA synchronous = OFF;"
                                    "PRAGMA cache_size = -65536;"; /* KiB, with the minus */

static bool read_begin(const char *path, char *ret, size_t bytes)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool whole = fd >= 0 && read(fd, ret, bytes) == (ssize_t)bytes;

    if (fd >= 0)
        close(fd);
    return whole;
}

bool ml_sql_is_database(const char *path)
{
    char begin[sizeof(magic)];

    return read_begin(path, begin, sizeof(begin)) && memcmp(begin, magic, sizeof(magic)) == 0;
}

/* ---- Opening ------------------------------------------------------------ */

static int open_database(struct ml_sql *sql, const char *path, int flags, struct ml_error *err)
{
    *sql = (struct ml_sql){0};
    if (sqlite3_open_v2(path, &sql->db, flags | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
        return sql->db ? ml_sqlite_fail(sql->db, path, err) : -ENOMEM;
    ml_sql_limit(sql->db);
    return 0;
}

/* A database for which SQLite creates two more files even to read it. */
static bool has_log(const char *path)
{
    char begin[HEADER_BYTES];

    return read_begin(path, begin, sizeof(begin)) && begin[READ_VERSION] == 2;
}

/* "file:" with every byte except letters and digits percent-encoded, so that none is
 * special. */
static int put_uri(struct ml_buf *out, const char *path)
{
    int r = ml_buf_puts(out, "file:");

    for (; r == 0 && *path; path++)
        r = ml_buf_printf(out, isalnum((unsigned char)*path) ? "%c" : "%%%02X",
                          (unsigned char)*path);
    return r < 0 ? r : ml_buf_puts(out, "?immutable=1");
}

static int open_with_log(struct ml_sql *sql, const char *path, struct ml_error *err)
{
    struct ml_buf text = {0};
    struct stat st;
    int r = ml_buf_printf(&text, "%s-wal", path);

    if (r == 0 && stat((char *)text.data, &st) == 0 && st.st_size > 0)
        r = ml_error_set(err, -EBUSY,
                         "%s has changes in %s, and reading them would change files; "
                         "close the program that writes it, or copy it with sqlite3's .backup",
                         path, (char *)text.data);
    ml_buf_clear(&text);
    if (r == 0)
        r = put_uri(&text, path);
    if (r == 0)
        r = open_database(sql, (char *)text.data, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, err);
    ml_buf_release(&text);
    return r;
}

int ml_sql_open_file(struct ml_sql *sql, const char *path, struct ml_error *err)
{
    *sql = (struct ml_sql){0};
    return has_log(path) ? open_with_log(sql, path, err)
                         : open_database(sql, path, SQLITE_OPEN_READONLY, err);
}

int ml_sql_open_trace(struct ml_sql *sql, const struct ml_trace *trace, struct ml_error *err)
{
    int r = open_database(sql, "", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, err);

    sql->trace = trace;
    if (r == 0 && sqlite3_exec(sql->db, temporary_sql, NULL, NULL, NULL) != SQLITE_OK)
        r = ml_sqlite_fail(sql->db, "a temporary database", err);
    return r < 0 ? r : ml_sqlite_create(sql->db, err);
}

void ml_sql_close(struct ml_sql *sql)
{
    sqlite3_close(sql->db);
    *sql = (struct ml_sql){0};
}

/* ---- Checking a query, and what it needs ------------------------- */

static void note_table(struct ml_sql *sql, const char *table, const char *column)
{
    const char *name;

    for (size_t i = 0; i < ML_SQL_TABLES_MAX && (name = ml_sqlite_table(i)); i++) {
        int at = strcmp(name, table) == 0 ? ml_sqlite_column(i, column ? column : "") : -2;

        if (at >= 0)
            sql->wanted[i] |= UINT64_C(1) << at;
        if (at >= -1)
            sql->wanted[i] |= sql->whole_tables ? ML_SQLITE_ALL_COLUMNS : NEEDED;
    }
}

static int authorize(void *ctx, int action, const char *first, const char *second,
                     const char *database, const char *inside)
{
    struct ml_sql *sql = ctx;

    (void)database;
    (void)inside;
    if (action == SQLITE_READ)
        note_table(sql, first, second);
    return ml_sql_may(action, first, second, sql->denied, sizeof(sql->denied));
}

static int explain(struct ml_sql *sql, struct ml_error *err)
{
    if (!sql->denied[0] && strstr(sqlite3_errmsg(sql->db), "may not be modified"))
        snprintf(sql->denied, sizeof(sql->denied), "UPDATE");
    if (sql->denied[0])
        return ml_error_set(err, -EPERM,
                            "memledger sql only reads: %s is not allowed; `memledger export "
                            "--format sqlite` writes a database that you can change",
                            sql->denied);
    if (strncmp(sqlite3_errmsg(sql->db), "no such table", 13) == 0)
        return ml_error_set(err, -EINVAL, "%s; `memledger sql FILE` lists them",
                            sqlite3_errmsg(sql->db));
    return ml_error_set(err, -EINVAL, "%s", sqlite3_errmsg(sql->db));
}

/* Blanks and comments may follow. */
static int check_tail(struct ml_sql *sql, const char *tail, struct ml_error *err)
{
    sqlite3_stmt *more = NULL;
    int code;

    tail += strspn(tail, " \t\r\n;");
    code = sqlite3_prepare_v2(sql->db, tail, -1, &more, NULL);
    if (code == SQLITE_OK && !more)
        return 0;
    sqlite3_finalize(more);
    return ml_error_set(err, -EINVAL, "only one statement is allowed; remove '%.40s'", tail);
}

/* SQLite does not ask the authorizer about VACUUM, which writes a file or rewrites the database. */
static int check_reads(struct ml_sql *sql, sqlite3_stmt *stmt, struct ml_error *err)
{
    if (sqlite3_stmt_readonly(stmt))
        return 0;
    snprintf(sql->denied, sizeof(sql->denied), "what this statement does");
    return explain(sql, err);
}

/* SQLite does not report columns that a join uses by USING or implicitly. */
static bool mentions(const char *question, const char *word)
{
    return strcasestr(question, word) != NULL;
}

static int prepare(struct ml_sql *sql, const char *question, sqlite3_stmt **ret,
                   struct ml_error *err)
{
    const char *tail = "";
    sqlite3_stmt *stmt = NULL;
    int code, r = 0;

    sql->whole_tables = mentions(question, "using") || mentions(question, "natural");
    /* Set until the rows are read: some statements prepare others while they run. */
    sqlite3_set_authorizer(sql->db, authorize, sql);
    code = sqlite3_prepare_v2(sql->db, question, -1, &stmt, &tail);
    if (code != SQLITE_OK)
        r = explain(sql, err);
    else if (!stmt)
        r = ml_error_set(err, -EINVAL, "'%s' contains no statement", question);
    else
        r = check_reads(sql, stmt, err);
    if (r == 0)
        r = check_tail(sql, tail, err);
    if (r < 0) {
        sqlite3_finalize(stmt);
        return r;
    }
    *ret = stmt;
    return 0;
}

/* ---- Rows --------------------------------------------------------- */

static int load(struct ml_sql *sql, struct ml_progress *progress, struct ml_error *err)
{
    int r = 0;

    sqlite3_set_authorizer(sql->db, NULL, NULL);
    if (sqlite3_exec(sql->db, "BEGIN", NULL, NULL, NULL) != SQLITE_OK)
        return ml_sqlite_fail(sql->db, "a temporary database", err);
    for (size_t i = 0; r == 0 && i < ML_SQL_TABLES_MAX && ml_sqlite_table(i); i++)
        if (sql->wanted[i])
            r = ml_sqlite_fill(sql->db, sql->trace, i, sql->wanted[i], progress, err);
    if (sqlite3_exec(sql->db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK && r == 0)
        r = ml_sqlite_fail(sql->db, "a temporary database", err);
    memset(sql->wanted, 0, sizeof(sql->wanted));
    return r;
}

int ml_sql_prepare(struct ml_sql *sql, const char *question, struct ml_progress *progress,
                   struct sqlite3_stmt **ret, struct ml_error *err)
{
    sqlite3_stmt *stmt = NULL;
    int r = prepare(sql, question, &stmt, err);

    if (r == 0 && sql->trace) {
        sqlite3_finalize(stmt);
        r = load(sql, progress, err);
        if (r == 0)
            r = prepare(sql, question, &stmt, err);
    }
    if (r == 0)
        *ret = stmt;
    return r;
}

int ml_sql_prepare_list(struct ml_sql *sql, struct sqlite3_stmt **ret, struct ml_error *err)
{
    static const char list[] =
        "SELECT m.name, m.type, group_concat(c.name, ' ') FROM sqlite_master AS m,"
        " pragma_table_info(m.name) AS c WHERE m.type IN ('table', 'view')"
        " AND m.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' GROUP BY m.type, m.rowid"
        " ORDER BY m.type, m.rowid";

    if (sqlite3_prepare_v2(sql->db, list, -1, ret, NULL) == SQLITE_OK)
        return 0;
    return ml_sqlite_fail(sql->db, "cannot list the tables", err);
}
