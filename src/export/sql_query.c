/* sql_query.c: see sql_query.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sql_query.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "compiler.h"
#include "sqlite_tables.h"

#define NEEDED (UINT64_C(1) << 63) /* the table itself, even if none of its columns */

static const char magic[16] = "SQLite format 3";

static const char temporary_sql[] = "PRAGMA journal_mode = OFF;"
                                    "PRAGMA synchronous = OFF;"
                                    "PRAGMA cache_size = -65536;"; /* KiB, with the minus */

bool ml_sql_is_database(const char *path)
{
    char begin[sizeof(magic)];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool is = fd >= 0 && read(fd, begin, sizeof(begin)) == (ssize_t)sizeof(begin) &&
              memcmp(begin, magic, sizeof(magic)) == 0;

    if (fd >= 0)
        close(fd);
    return is;
}

/* ---- Opening ------------------------------------------------------------ */

static int open_database(struct ml_sql *sql, const char *path, int flags, struct ml_error *err)
{
    *sql = (struct ml_sql){0};
    if (sqlite3_open_v2(path, &sql->db, flags | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK)
        return 0;
    return sql->db ? ml_sqlite_fail(sql->db, path, err) : -ENOMEM;
}

int ml_sql_open_file(struct ml_sql *sql, const char *path, struct ml_error *err)
{
    return open_database(sql, path, SQLITE_OPEN_READONLY, err);
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

/* ---- What a question may do, and what it needs ------------------------- */

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

/* Those that only tell. */
static bool may_ask(const char *pragma, const char *argument)
{
    static const char *const with_table[] = {"table_info", "table_xinfo", "index_list"};
    static const char *const plain[] = {"integrity_check", "quick_check",    "table_list",
                                        "user_version",    "application_id", "page_count"};

    for (size_t i = 0; i < ML_ARRAY_SIZE(with_table); i++)
        if (sqlite3_stricmp(pragma, with_table[i]) == 0)
            return true;
    for (size_t i = 0; !argument && i < ML_ARRAY_SIZE(plain); i++)
        if (sqlite3_stricmp(pragma, plain[i]) == 0)
            return true;
    return false;
}

static const char *action_name(int action)
{
    switch (action) {
    case SQLITE_ATTACH: return "ATTACH";
    case SQLITE_DELETE: return "DELETE";
    case SQLITE_INSERT: return "INSERT";
    case SQLITE_PRAGMA: return "this PRAGMA";
    case SQLITE_UPDATE: return "UPDATE";
    case SQLITE_TRANSACTION: return "a transaction";
    default: return "what this statement does";
    }
}

static int authorize(void *ctx, int action, const char *first, const char *second,
                     const char *database, const char *inside)
{
    struct ml_sql *sql = ctx;

    (void)database;
    (void)inside;
    switch (action) {
    case SQLITE_READ: note_table(sql, first, second); return SQLITE_OK;
    case SQLITE_SELECT:
    case SQLITE_FUNCTION:
    case SQLITE_RECURSIVE: return SQLITE_OK;
    case SQLITE_PRAGMA:
        if (may_ask(first, second))
            return SQLITE_OK;
        break;
    default: break;
    }
    if (!sql->denied[0])
        snprintf(sql->denied, sizeof(sql->denied), "%s", action_name(action));
    return SQLITE_DENY;
}

static int explain(struct ml_sql *sql, struct ml_error *err)
{
    if (sql->denied[0])
        return ml_error_set(err, -EPERM,
                            "memledger sql only reads, and %s is more; `memledger export "
                            "--format sqlite` makes a database of your own",
                            sql->denied);
    if (strncmp(sqlite3_errmsg(sql->db), "no such table", 13) == 0)
        return ml_error_set(err, -EINVAL, "%s; `memledger sql FILE` lists them",
                            sqlite3_errmsg(sql->db));
    return ml_error_set(err, -EINVAL, "%s", sqlite3_errmsg(sql->db));
}

static int check_tail(const char *tail, struct ml_error *err)
{
    if (tail[strspn(tail, " \t\r\n;")] == '\0')
        return 0;
    return ml_error_set(err, -EINVAL, "one statement at a time: '%.40s' is one too many",
                        tail + strspn(tail, " \t\r\n;"));
}

/* SQLite does not tell of columns that a join names by USING or not at all. */
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
    sqlite3_set_authorizer(sql->db, authorize, sql);
    code = sqlite3_prepare_v2(sql->db, question, -1, &stmt, &tail);
    sqlite3_set_authorizer(sql->db, NULL, NULL);
    if (code != SQLITE_OK)
        r = explain(sql, err);
    else if (!stmt)
        r = ml_error_set(err, -EINVAL, "there is no statement in '%s'", question);
    else
        r = check_tail(tail, err);
    if (r < 0) {
        sqlite3_finalize(stmt);
        return r;
    }
    *ret = stmt;
    return 0;
}

/* ---- The answer --------------------------------------------------------- */

static int load(struct ml_sql *sql, struct ml_progress *progress, struct ml_error *err)
{
    int r = 0;

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
