/* sql_print.c: see sql_print.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sql_print.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "csv.h"
#include "json.h"
#include "report_command.h"
#include "say.h"
#include "table.h"

#define FLUSH_BYTES 65536
#define NAME_WIDTH 16 /* of a table in the list */

static int flush(struct ml_buf *out)
{
    int status = ml_report_write(out);

    ml_buf_clear(out);
    return status == ML_EXIT_OK ? 0 : -EPIPE;
}

static const char *column_name(sqlite3_stmt *stmt, int i)
{
    const char *name = sqlite3_column_name(stmt, i);

    return name ? name : "?";
}

/* A row for each call. @return 1: a row, 0: the end, or negative errno */
static int step(sqlite3_stmt *stmt, struct ml_error *err)
{
    int code = sqlite3_step(stmt);

    if (code == SQLITE_ROW || code == SQLITE_DONE)
        return code == SQLITE_ROW;
    return ml_error_set(err, -EIO, "%s", sqlite3_errmsg(sqlite3_db_handle(stmt)));
}

/* A blob as X'…', as in SQL; anything else as SQLite prints it. */
static int put_text(sqlite3_stmt *stmt, int i, struct ml_buf *out)
{
    const uint8_t *bytes;
    int r = 0;

    if (sqlite3_column_type(stmt, i) != SQLITE_BLOB) {
        const char *text = (const char *)sqlite3_column_text(stmt, i);

        return ml_buf_append(out, text ? text : "", (size_t)sqlite3_column_bytes(stmt, i));
    }
    bytes = sqlite3_column_blob(stmt, i);
    r = ml_buf_puts(out, "X'");
    for (int n = sqlite3_column_bytes(stmt, i), k = 0; r == 0 && k < n; k++)
        r = ml_buf_printf(out, "%02X", bytes[k]);
    return r < 0 ? r : ml_buf_puts(out, "'");
}

/* ---- Text --------------------------------------------------------------- */

/* Numbers are aligned right; the first row decides, or the declared type of the column. */
static enum ml_align align_of(sqlite3_stmt *stmt, int i)
{
    const char *declared = sqlite3_column_decltype(stmt, i);

    switch (sqlite3_column_type(stmt, i)) {
    case SQLITE_INTEGER:
    case SQLITE_FLOAT: return ML_RIGHT;
    case SQLITE_NULL: return declared && strcmp(declared, "INTEGER") == 0 ? ML_RIGHT : ML_LEFT;
    default: return ML_LEFT;
    }
}

static int add_row(sqlite3_stmt *stmt, struct ml_table *table, struct ml_buf *cell)
{
    int r = 0;

    for (int i = 0; r == 0 && i < sqlite3_column_count(stmt); i++) {
        ml_buf_clear(cell);
        r = put_text(stmt, i, cell);
        if (r == 0)
            r = ml_table_cell(table, cell->len ? (const char *)cell->data : "");
    }
    return r;
}

static int print_text(sqlite3_stmt *stmt, const struct ml_style *style, struct ml_buf *out,
                      struct ml_error *err)
{
    struct ml_table table;
    struct ml_buf cell = {0};
    bool first = true;
    int r;

    ml_table_init(&table);
    do {
        r = step(stmt, err);
        for (int i = 0; first && r >= 0 && i < sqlite3_column_count(stmt); i++)
            ml_table_column(&table, column_name(stmt, i), align_of(stmt, i));
        first = false;
        if (r > 0 && add_row(stmt, &table, &cell) < 0)
            r = -ENOMEM;
    } while (r > 0);
    if (r == 0)
        r = ml_table_print(&table, out, style->width);
    ml_buf_release(&cell);
    ml_table_release(&table);
    return r;
}

/* ---- CSV ---------------------------------------------------------------- */

static int put_csv(sqlite3_stmt *stmt, int i, bool safe, struct ml_buf *out)
{
    struct ml_buf cell = {0};
    int r;

    switch (sqlite3_column_type(stmt, i)) {
    case SQLITE_NULL: return ml_csv_null(out);
    case SQLITE_INTEGER: return ml_csv_i64(out, sqlite3_column_int64(stmt, i));
    default: break;
    }
    r = put_text(stmt, i, &cell);
    if (r == 0)
        r = ml_csv_name(out, cell.len ? (const char *)cell.data : "",
                        safe && sqlite3_column_type(stmt, i) == SQLITE_TEXT);
    ml_buf_release(&cell);
    return r;
}

static int print_csv(sqlite3_stmt *stmt, bool safe, struct ml_buf *out, struct ml_error *err)
{
    int columns = sqlite3_column_count(stmt), more = 1, r = 0;

    for (int i = 0; r == 0 && i < columns; i++)
        r = ml_csv_name(out, column_name(stmt, i), safe);
    while (r == 0 && more > 0) {
        r = ml_csv_end(out);
        if (r == 0 && out->len >= FLUSH_BYTES && (r = ml_say_csv(0, out)) == 0)
            r = flush(out);
        more = r == 0 ? step(stmt, err) : 0;
        for (int i = 0; r == 0 && more > 0 && i < columns; i++)
            r = put_csv(stmt, i, safe, out);
    }
    return r < 0 ? r : more;
}

/* ---- JSON --------------------------------------------------------------- */

static int put_json(sqlite3_stmt *stmt, int i, struct ml_json *json)
{
    struct ml_buf cell = {0};
    int r;

    switch (sqlite3_column_type(stmt, i)) {
    case SQLITE_NULL: ml_json_null(json); return 0;
    case SQLITE_INTEGER: ml_json_i64(json, sqlite3_column_int64(stmt, i)); return 0;
    case SQLITE_FLOAT: ml_json_double(json, sqlite3_column_double(stmt, i)); return 0;
    default: break;
    }
    r = put_text(stmt, i, &cell);
    ml_json_string(json, cell.len ? (const char *)cell.data : "", cell.len);
    ml_buf_release(&cell);
    return r;
}

static int put_json_row(sqlite3_stmt *stmt, struct ml_json *json)
{
    int r = ml_buf_puts(json->out, "\n"); /* a line for each */

    ml_json_begin_array(json);
    for (int i = 0; r == 0 && i < sqlite3_column_count(stmt); i++)
        r = put_json(stmt, i, json);
    ml_json_end_array(json);
    return r < 0 ? r : json->error;
}

static int print_json(sqlite3_stmt *stmt, struct ml_buf *out, struct ml_error *err)
{
    struct ml_json json;
    int r;

    ml_json_init(&json, out, false);
    ml_json_begin_object(&json);
    ml_json_key(&json, "columns");
    ml_json_begin_array(&json);
    for (int i = 0; i < sqlite3_column_count(stmt); i++)
        ml_json_cstr(&json, column_name(stmt, i));
    ml_json_end_array(&json);
    ml_json_key(&json, "rows");
    ml_json_begin_array(&json);
    while ((r = step(stmt, err)) > 0) {
        r = put_json_row(stmt, &json);
        if (r == 0 && out->len >= FLUSH_BYTES)
            r = flush(out);
        if (r < 0)
            break;
    }
    ml_json_end_array(&json);
    ml_json_end_object(&json);
    if (r == 0)
        r = ml_json_finish(&json);
    return r < 0 ? r : ml_buf_puts(out, "\n");
}

int ml_sql_print(struct sqlite3_stmt *stmt, enum ml_sql_form form, const struct ml_style *style,
                 struct ml_error *err)
{
    struct ml_buf out = {0};
    int r = 0;

    switch (form) {
    case ML_SQL_TEXT: r = print_text(stmt, style, &out, err); break;
    case ML_SQL_CSV:
    case ML_SQL_SAFE_CSV:
        r = ml_say_csv(print_csv(stmt, form == ML_SQL_SAFE_CSV, &out, err), &out);
        break;
    case ML_SQL_JSON: r = print_json(stmt, &out, err); break;
    }
    if (r == 0 && out.len > 0)
        r = flush(&out);
    ml_buf_release(&out);
    return r;
}

/* ---- The list ----------------------------------------------------------- */

/* Words after a margin, as many to a line as fit. */
static int put_words(const char *words, size_t width, struct ml_buf *out)
{
    size_t at = NAME_WIDTH;
    int r = 0;

    while (r == 0 && *words) {
        size_t len = strcspn(words, " ");

        if (width && at > NAME_WIDTH && at + 1 + len > width) {
            r = ml_buf_puts(out, "\n");
            if (r == 0)
                r = ml_buf_fill(out, ' ', NAME_WIDTH);
            at = NAME_WIDTH;
        }
        if (r == 0)
            r = ml_buf_puts(out, " ");
        if (r == 0)
            r = ml_buf_append(out, words, len);
        at += 1 + len;
        words += len + strspn(words + len, " ");
    }
    return r < 0 ? r : ml_buf_puts(out, "\n");
}

static const char *text_of(sqlite3_stmt *stmt, int i)
{
    const char *text = (const char *)sqlite3_column_text(stmt, i);

    return text ? text : "";
}

int ml_sql_print_list(struct sqlite3_stmt *stmt, const struct ml_style *style, struct ml_error *err)
{
    struct ml_buf out = {0}, safe = {0};
    char kind[8] = "";
    int r;

    while ((r = step(stmt, err)) > 0) {
        if (strcmp(kind, text_of(stmt, 1)) != 0)
            r = ml_buf_printf(&out, "%s%ss:\n", kind[0] ? "\n" : "", text_of(stmt, 1));
        else
            r = 0;
        snprintf(kind, sizeof(kind), "%s", text_of(stmt, 1));
        ml_buf_clear(&safe);
        if (r == 0)
            r = ml_report_safe(&safe, text_of(stmt, 0));
        if (r == 0)
            r = ml_buf_printf(&out, "%-*s", NAME_WIDTH, (const char *)safe.data);
        ml_buf_clear(&safe);
        if (r == 0)
            r = ml_report_safe(&safe, text_of(stmt, 2));
        if (r == 0)
            r = put_words((const char *)safe.data, ml_prose_width(style), &out);
        if (r < 0)
            break;
    }
    if (r == 0)
        r = flush(&out);
    ml_buf_release(&safe);
    ml_buf_release(&out);
    return r;
}
