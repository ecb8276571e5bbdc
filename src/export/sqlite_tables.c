/* sqlite_tables.c: see sqlite_tables.h. The tables of read_table.h come first, then those
 * of sqlite_facts.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sqlite_tables.h"

#include <errno.h>
#include <limits.h>
#include <sqlite3.h>
#include <string.h>

#include "sqlite_facts.h"
#include "table_rows.h"

int ml_sqlite_fail(struct sqlite3 *db, const char *doing, struct ml_error *err)
{
    int code = sqlite3_extended_errcode(db) & 0xff;

    return ml_error_set(err, code == SQLITE_NOMEM ? -ENOMEM : -EIO, "%s: %s", doing,
                        sqlite3_errmsg(db));
}

/* ---- List of tables -------------------------------------------- */

static size_t trace_tables(void)
{
    size_t n = 0;

    while (ml_tables[n])
        n++;
    return n;
}

const char *ml_sqlite_table(size_t i)
{
    size_t n = trace_tables();

    return i < n ? ml_tables[i]->name : ml_sqlite_facts_name(i - n);
}

int ml_sqlite_column(size_t table, const char *name)
{
    const struct ml_table_kind *kind;

    if (table >= trace_tables())
        return -1;
    kind = ml_tables[table];
    for (size_t i = 0; i < kind->column_count; i++)
        if (strcmp(kind->columns[i].name, name) == 0)
            return (int)i;
    return -1;
}

static int put_create(const struct ml_table_kind *kind, struct ml_buf *sql)
{
    int r = ml_buf_printf(sql, "CREATE TABLE \"%s\"(", kind->name);

    for (size_t i = 0; r == 0 && i < kind->column_count; i++) {
        const struct ml_column *column = &kind->columns[i];

        r = ml_buf_printf(sql, "%s\"%s\" %s%s", i ? ", " : "", column->name,
                          column->type == ML_COLUMN_TEXT ? "TEXT" : "INTEGER",
                          column->type == ML_COLUMN_BOOL ? " /* 0 or 1 */" : "");
    }
    return r < 0 ? r : ml_buf_puts(sql, ");\n");
}

int ml_sqlite_create(struct sqlite3 *db, struct ml_error *err)
{
    struct ml_buf sql = {0};
    int r = 0;

    for (size_t i = 0; r == 0 && ml_tables[i]; i++)
        r = put_create(ml_tables[i], &sql);
    if (r == 0)
        r = ml_buf_puts(&sql, ml_sqlite_facts_schema);
    if (r == 0 && sqlite3_exec(db, (const char *)sql.data, NULL, NULL, NULL) != SQLITE_OK)
        r = ml_sqlite_fail(db, "cannot create the tables", err);
    ml_buf_release(&sql);
    return r;
}

/* ---- Rows --------------------------------------------------------------- */

static int prepare_insert(struct sqlite3 *db, const struct ml_table_kind *kind, sqlite3_stmt **ret,
                          struct ml_error *err)
{
    struct ml_buf sql = {0};
    int r = ml_buf_printf(&sql, "INSERT INTO \"%s\" VALUES(?", kind->name);

    for (size_t i = 1; r == 0 && i < kind->column_count; i++)
        r = ml_buf_puts(&sql, ",?");
    if (r == 0)
        r = ml_buf_puts(&sql, ")");
    if (r == 0 && sqlite3_prepare_v2(db, (const char *)sql.data, -1, ret, NULL) != SQLITE_OK)
        r = ml_sqlite_fail(db, kind->name, err);
    ml_buf_release(&sql);
    return r;
}

/* Texts stay valid until the rows are closed, after the statement. */
static int bind_cell(sqlite3_stmt *insert, const struct ml_table_rows *rows, size_t row,
                     size_t column)
{
    int place = (int)column + 1;
    const char *text;
    size_t len;

    if (ml_cell_is_null(rows, row, column))
        return sqlite3_bind_null(insert, place);
    if (rows->kind->columns[column].type != ML_COLUMN_TEXT)
        return sqlite3_bind_int64(insert, place, (sqlite3_int64)ml_cell_number(rows, row, column));
    text = ml_cell_text(rows, row, column, &len);
    return sqlite3_bind_text(insert, place, text, len < INT_MAX ? (int)len : INT_MAX,
                             SQLITE_STATIC);
}

static int put_batch(sqlite3_stmt *insert, const struct ml_table_rows *rows, size_t count,
                     uint64_t columns)
{
    int code = SQLITE_OK;

    for (size_t row = 0; code == SQLITE_OK && row < count; row++) {
        for (size_t i = 0; code == SQLITE_OK && i < rows->kind->column_count; i++)
            if (columns >> i & 1)
                code = bind_cell(insert, rows, row, i);
        if (code == SQLITE_OK)
            sqlite3_step(insert);
        code = code == SQLITE_OK ? sqlite3_reset(insert) : code;
    }
    return code;
}

static int fill_table(struct sqlite3 *db, const struct ml_trace *trace,
                      const struct ml_table_kind *kind, uint64_t columns,
                      struct ml_progress *progress, struct ml_error *err)
{
    struct ml_table_rows rows;
    sqlite3_stmt *insert = NULL;
    int n, r = ml_table_rows_open(&rows, trace, kind, err);

    if (r == 0)
        r = prepare_insert(db, kind, &insert, err);
    while (r == 0 && (n = ml_table_rows_next(&rows, err)) != 0) {
        if (n < 0)
            r = n;
        else if (put_batch(insert, &rows, (size_t)n, columns) != SQLITE_OK)
            r = ml_sqlite_fail(db, kind->name, err);
        ml_table_rows_tell(&rows, progress);
    }
    sqlite3_finalize(insert);
    ml_table_rows_close(&rows);
    return r;
}

int ml_sqlite_fill(struct sqlite3 *db, const struct ml_trace *trace, size_t table, uint64_t columns,
                   struct ml_progress *progress, struct ml_error *err)
{
    size_t n = trace_tables();

    if (table < n)
        return fill_table(db, trace, ml_tables[table], columns, progress, err);
    return ml_sqlite_facts_fill(db, trace, table - n, err);
}
