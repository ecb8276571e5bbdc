/* export_csv.c: one table of the trace as comma-separated values: a line of names, then a line
 * for each row. Null is an empty cell; an empty text is "".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "csv.h"
#include "exporter.h"
#include "table_rows.h"

static int put_head(const struct ml_table_kind *kind, struct ml_buf *out)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < kind->column_count; i++)
        r = ml_csv_text(out, kind->columns[i].name);
    return r < 0 ? r : ml_csv_end(out);
}

static int put_cell(const struct ml_table_rows *rows, size_t row, size_t column, bool safe,
                    struct ml_buf *out)
{
    if (ml_cell_is_null(rows, row, column))
        return ml_csv_null(out);
    switch (rows->kind->columns[column].type) {
    case ML_COLUMN_TEXT: return ml_csv_name(out, ml_cell_text(rows, row, column, NULL), safe);
    case ML_COLUMN_I64: return ml_csv_i64(out, (int64_t)ml_cell_number(rows, row, column));
    case ML_COLUMN_U64:
    case ML_COLUMN_U32:
    case ML_COLUMN_BOOL: break;
    }
    return ml_csv_u64(out, ml_cell_number(rows, row, column));
}

static int put_batch(const struct ml_table_rows *rows, size_t count, bool safe,
                     struct ml_output *out)
{
    int r = 0;

    for (size_t row = 0; r == 0 && row < count; row++) {
        for (size_t i = 0; r == 0 && i < rows->kind->column_count; i++)
            r = put_cell(rows, row, i, safe, &out->text);
        if (r == 0)
            r = ml_csv_end(&out->text);
        if (r == 0)
            r = ml_output_line(out);
    }
    return r;
}

static int export_trace(const struct ml_trace *trace, const struct ml_export_opts *opts,
                        struct ml_output *out, struct ml_error *err)
{
    const struct ml_table_kind *kind = ml_table_find(opts->table ? opts->table : "allocations");
    struct ml_table_rows rows;
    int n, r = ml_table_rows_open(&rows, trace, kind, err);

    ml_table_rows_hide_unknown(&rows);
    if (r == 0)
        r = put_head(kind, &out->text);
    while (r == 0 && (n = ml_table_rows_next(&rows, err)) != 0) {
        r = n < 0 ? n : put_batch(&rows, (size_t)n, opts->safe_csv, out);
        ml_table_rows_tell(&rows, opts->progress);
    }
    ml_table_rows_close(&rows);
    return r;
}

const struct ml_exporter ml_exporter_csv = {
    .name = "csv",
    .suffix = ".csv",
    .help = "one table, --table: allocations, events, ...",
    .whole_run = true,
    .all_devices = true,
    .has_tables = true,
    .run = export_trace,
};
