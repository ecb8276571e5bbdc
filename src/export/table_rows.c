/* table_rows.c: see table_rows.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "table_rows.h"

#include <errno.h>
#include <string.h>

#include "unknowns.h"

int ml_table_rows_open(struct ml_table_rows *rows, const struct ml_trace *trace,
                       const struct ml_table_kind *kind, struct ml_error *err)
{
    *rows = (struct ml_table_rows){.kind = kind};
    ml_batch_init(&rows->batch, trace, kind->columns, kind->column_count);
    return kind->open(trace, &rows->state, err);
}

void ml_table_rows_close(struct ml_table_rows *rows)
{
    if (rows->state)
        rows->kind->close(rows->state);
    ml_batch_release(&rows->batch);
    rows->state = NULL;
}

static bool is_time(const char *column)
{
    size_t len = strlen(column);

    return len > 3 && strcmp(column + len - 3, "_ns") == 0;
}

void ml_table_rows_hide_unknown(struct ml_table_rows *rows)
{
    unsigned unknown =
        ml_unknowns_parse(ml_trace_setting(rows->batch.trace, ML_SETTING_IMPORT_UNKNOWN));

    for (size_t i = 0; i < rows->kind->column_count; i++) {
        const char *name = rows->kind->columns[i].name;

        if ((unknown & ML_UNKNOWN_TIMES && is_time(name)) ||
            (unknown & ML_UNKNOWN_ADDRESSES && strcmp(name, "address") == 0))
            rows->unknowns |= UINT32_C(1) << i;
    }
}

static int explain(const struct ml_table_rows *rows, int code, struct ml_error *err)
{
    if (code == -E2BIG)
        return ml_error_set(err, code,
                            "%s: the names in one column take more than %llu MiB; "
                            "`memledger events` can read the trace",
                            rows->kind->name,
                            (unsigned long long)ML_ARROW_DICTIONARY_BYTES_MAX >> 20);
    return ml_error_set(err, code, "%s: not enough memory for a batch of rows", rows->kind->name);
}

int ml_table_rows_next(struct ml_table_rows *rows, struct ml_error *err)
{
    int r;

    rows->done += rows->batch.rows;
    r = ml_batch_begin(&rows->batch);
    if (r == 0) {
        r = rows->kind->fill(rows->state, &rows->batch, err);
        if (r < 0)
            return r;
        r = rows->batch.error;
    }
    return r < 0 ? explain(rows, r, err) : (int)rows->batch.rows;
}

void ml_table_rows_tell(const struct ml_table_rows *rows, struct ml_progress *progress)
{
    ml_progress_tell(progress, rows->done + rows->batch.rows,
                     ml_trace_info(rows->batch.trace)->events);
}

uint64_t ml_cell_number(const struct ml_table_rows *rows, size_t row, size_t column)
{
    const void *values = rows->batch.data[column].values;

    switch (rows->kind->columns[column].type) {
    case ML_COLUMN_U64:
    case ML_COLUMN_I64: return ((const uint64_t *)values)[row];
    case ML_COLUMN_BOOL: return ((const uint8_t *)values)[row / 8] >> row % 8 & 1;
    case ML_COLUMN_U32:
    case ML_COLUMN_TEXT: break;
    }
    return ((const uint32_t *)values)[row];
}

const char *ml_cell_text(const struct ml_table_rows *rows, size_t row, size_t column,
                         size_t *ret_len)
{
    return ml_intern_get(&rows->batch.data[column].dictionary.texts,
                         (uint32_t)ml_cell_number(rows, row, column), ret_len);
}
