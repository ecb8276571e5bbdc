/* sql_rights.c: see sql_rights.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sql_rights.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>

#include "compiler.h"

/* Functions without side effects. load_extension, fts3_tokenizer and the functions of SQLite's
 * shell (readfile, writefile, edit) are not among them. */
static const char *const functions[] = {
    /* of one row */
    "abs",
    "char",
    "coalesce",
    "concat",
    "concat_ws",
    "format",
    "glob",
    "hex",
    "if",
    "ifnull",
    "iif",
    "instr",
    "length",
    "like",
    "likelihood",
    "likely",
    "lower",
    "ltrim",
    "max",
    "min",
    "nullif",
    "octet_length",
    "printf",
    "quote",
    "random",
    "randomblob",
    "replace",
    "round",
    "rtrim",
    "sign",
    "soundex",
    "sqlite_compileoption_get",
    "sqlite_compileoption_used",
    "sqlite_source_id",
    "sqlite_version",
    "substr",
    "substring",
    "subtype",
    "trim",
    "typeof",
    "unhex",
    "unicode",
    "unistr",
    "unistr_quote",
    "unlikely",
    "upper",
    "zeroblob",
    /* dates */
    "current_date",
    "current_time",
    "current_timestamp",
    "date",
    "datetime",
    "julianday",
    "strftime",
    "time",
    "timediff",
    "unixepoch",
    /* numbers */
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "ceil",
    "ceiling",
    "cos",
    "cosh",
    "degrees",
    "exp",
    "floor",
    "ln",
    "log",
    "log10",
    "log2",
    "mod",
    "pi",
    "pow",
    "power",
    "radians",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "trunc",
    /* of many rows, and windows */
    "avg",
    "count",
    "cume_dist",
    "dense_rank",
    "first_value",
    "group_concat",
    "lag",
    "last_value",
    "lead",
    "median",
    "nth_value",
    "ntile",
    "percent_rank",
    "percentile",
    "percentile_cont",
    "percentile_disc",
    "rank",
    "row_number",
    "string_agg",
    "sum",
    "total",
    /* JSON */
    "->",
    "->>",
    "json",
    "json_array",
    "json_array_length",
    "json_error_position",
    "json_extract",
    "json_group_array",
    "json_group_object",
    "json_insert",
    "json_object",
    "json_patch",
    "json_pretty",
    "json_quote",
    "json_remove",
    "json_replace",
    "json_set",
    "json_type",
    "json_valid",
    "jsonb",
    "jsonb_array",
    "jsonb_extract",
    "jsonb_group_array",
    "jsonb_group_object",
    "jsonb_insert",
    "jsonb_object",
    "jsonb_patch",
    "jsonb_remove",
    "jsonb_replace",
    "jsonb_set",
};

/* Pragmas that only read. */
static const char *const pragmas_with_table[] = {"table_info", "table_xinfo", "index_list"};
static const char *const pragmas[] = {"integrity_check", "quick_check",    "table_list",
                                      "user_version",    "application_id", "page_count"};

static bool is_among(const char *name, const char *const *names, size_t n)
{
    for (size_t i = 0; name && i < n; i++) {
        if (sqlite3_stricmp(name, names[i]) == 0)
            return true;
    }
    return false;
}

static bool may(int action, const char *first, const char *second)
{
    switch (action) {
    case SQLITE_READ:
    case SQLITE_SELECT:
    case SQLITE_RECURSIVE: return true;
    /* SQLite uses this to declare a table-valued function internally. SQLite itself rejects a
     * statement that changes this table, and check_reads does too. */
    case SQLITE_UPDATE: return first && sqlite3_stricmp(first, "sqlite_master") == 0;
    case SQLITE_FUNCTION: return is_among(second, functions, ML_ARRAY_SIZE(functions));
    case SQLITE_PRAGMA:
        return is_among(first, pragmas_with_table, ML_ARRAY_SIZE(pragmas_with_table)) ||
               (!second && is_among(first, pragmas, ML_ARRAY_SIZE(pragmas)));
    default: return false;
    }
}

static const char *action_name(int action)
{
    switch (action) {
    case SQLITE_ALTER_TABLE: return "ALTER TABLE";
    case SQLITE_ANALYZE: return "ANALYZE";
    case SQLITE_ATTACH: return "ATTACH";
    case SQLITE_DELETE: return "DELETE";
    case SQLITE_DETACH: return "DETACH";
    case SQLITE_INSERT: return "INSERT";
    case SQLITE_PRAGMA: return "this PRAGMA";
    case SQLITE_REINDEX: return "REINDEX";
    case SQLITE_SAVEPOINT:
    case SQLITE_TRANSACTION: return "a transaction";
    case SQLITE_UPDATE: return "UPDATE";
    default: return "what this statement does";
    }
}

int ml_sql_may(int action, const char *first, const char *second, char *denied, size_t room)
{
    if (may(action, first, second))
        return SQLITE_OK;
    if (!denied[0] && action == SQLITE_FUNCTION)
        snprintf(denied, room, "the function %s", second);
    else if (!denied[0])
        snprintf(denied, room, "%s", action_name(action));
    return SQLITE_DENY;
}

/* Large enough for any trace: the longest name has 32 KiB. */
void ml_sql_limit(struct sqlite3 *db)
{
    static const struct {
        int what, most;
    } limits[] = {
        {SQLITE_LIMIT_LENGTH, 64 << 20},           {SQLITE_LIMIT_SQL_LENGTH, 1 << 20},
        {SQLITE_LIMIT_EXPR_DEPTH, 1000},           {SQLITE_LIMIT_COMPOUND_SELECT, 500},
        {SQLITE_LIMIT_VDBE_OP, 10000000},          {SQLITE_LIMIT_ATTACHED, 0},
        {SQLITE_LIMIT_TRIGGER_DEPTH, 10},          {SQLITE_LIMIT_WORKER_THREADS, 0},
        {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 50000},
    };

    for (size_t i = 0; i < ML_ARRAY_SIZE(limits); i++)
        sqlite3_limit(db, limits[i].what, limits[i].most);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0, NULL);
#ifdef SQLITE_DBCONFIG_TRUSTED_SCHEMA
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
#endif
}
