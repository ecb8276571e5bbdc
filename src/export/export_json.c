/* export_json.c: the tables of the trace as one JSON object, a line for each row:
 *
 *     {"memledger":"0.1.0","run":{…},"tables":{
 *     "allocations":[
 *     {"time_ns":5,…},
 *     …]}}
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "exporter.h"
#include "json.h"
#include "run_facts.h"
#include "table_rows.h"

static void put_cell(struct ml_json *json, const struct ml_table_rows *rows, size_t row,
                     size_t column)
{
    size_t len;
    const char *text;

    if (ml_cell_is_null(rows, row, column)) {
        ml_json_null(json);
        return;
    }
    switch (rows->kind->columns[column].type) {
    case ML_COLUMN_TEXT:
        text = ml_cell_text(rows, row, column, &len);
        ml_json_string(json, text, len);
        break;
    case ML_COLUMN_I64: ml_json_i64(json, (int64_t)ml_cell_number(rows, row, column)); break;
    case ML_COLUMN_BOOL: ml_json_bool(json, ml_cell_number(rows, row, column)); break;
    case ML_COLUMN_U64:
    case ML_COLUMN_U32: ml_json_u64(json, ml_cell_number(rows, row, column)); break;
    }
}

static int put_batch(struct ml_json *json, const struct ml_table_rows *rows, size_t count,
                     struct ml_output *out)
{
    int r = json->error;

    for (size_t row = 0; r == 0 && row < count; row++) {
        r = ml_buf_puts(&out->text, "\n");
        ml_json_begin_object(json);
        for (size_t i = 0; i < rows->kind->column_count; i++) {
            ml_json_key(json, rows->kind->columns[i].name);
            put_cell(json, rows, row, i);
        }
        ml_json_end_object(json);
        if (r == 0)
            r = json->error;
        if (r == 0)
            r = ml_output_line(out);
    }
    return r;
}

static int put_table(struct ml_json *json, const struct ml_trace *trace,
                     const struct ml_table_kind *kind, struct ml_progress *progress,
                     struct ml_output *out, struct ml_error *err)
{
    struct ml_table_rows rows;
    int n, r = ml_table_rows_open(&rows, trace, kind, err);

    ml_table_rows_hide_unknown(&rows);
    ml_json_key(json, kind->name);
    ml_json_begin_array(json);
    while (r == 0 && (n = ml_table_rows_next(&rows, err)) != 0) {
        r = n < 0 ? n : put_batch(json, &rows, (size_t)n, out);
        ml_table_rows_tell(&rows, progress);
    }
    ml_json_end_array(json);
    ml_table_rows_close(&rows);
    return r < 0 ? r : json->error;
}

static void put_run(struct ml_json *json, const struct ml_trace *trace)
{
    struct ml_run_fact fact;

    ml_json_key(json, "run");
    ml_json_begin_object(json);
    for (size_t i = 0; ml_run_fact(trace, i, &fact); i++) {
        ml_json_key(json, fact.key);
        if (fact.text)
            ml_json_cstr(json, fact.text);
        else if (fact.unknown)
            ml_json_null(json);
        else
            ml_json_u64(json, fact.number);
    }
    ml_json_end_object(json);
}

static int export_trace(const struct ml_trace *trace, const struct ml_export_opts *opts,
                        struct ml_output *out, struct ml_error *err)
{
    const struct ml_table_kind *only = opts->table ? ml_table_find(opts->table) : NULL;
    struct ml_json json;
    int r = 0;

    ml_json_init(&json, &out->text, false);
    ml_json_begin_object(&json);
    ml_json_kv_cstr(&json, "memledger", MEMLEDGER_VERSION);
    put_run(&json, trace);
    ml_json_key(&json, "tables");
    ml_json_begin_object(&json);
    for (size_t i = 0; r == 0 && ml_tables[i]; i++)
        if (!only || only == ml_tables[i])
            r = put_table(&json, trace, ml_tables[i], opts->progress, out, err);
    ml_json_end_object(&json);
    ml_json_end_object(&json);
    if (r == 0)
        r = ml_json_finish(&json);
    return r < 0 ? r : ml_buf_puts(&out->text, "\n");
}

const struct ml_exporter ml_exporter_json = {
    .name = "json",
    .suffix = ".json",
    .help = "all tables in one object; --table: one",
    .whole_run = true,
    .all_devices = true,
    .has_tables = true,
    .run = export_trace,
};
