/* table_rows.h: reads the rows of a trace's table cell by cell, for the formats that contain
 * whole tables (csv, json, sqlite).
 *
 *     r = ml_table_rows_open(&rows, trace, kind, err);
 *     while (r == 0 && (n = ml_table_rows_next(&rows, err)) > 0)
 *         for (int row = 0; row < n; row++) …
 *     ml_table_rows_close(&rows);
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_EXPORT_TABLE_ROWS_H
#define ML_EXPORT_TABLE_ROWS_H

#include <assert.h>

#include "progress.h"
#include "read_table.h"

struct ml_table_rows {
    const struct ml_table_kind *kind;
    void *state; /* of the table; NULL: nothing is open */
    struct ml_batch batch;
    uint64_t done;     /* rows of earlier batches */
    uint32_t unknowns; /* a bit for each column that is always null */
};
static_assert(ML_COLUMNS_MAX <= 32, "bits of unknowns");

/* @rows   the caller closes it, also after a failure
 * @return 0 or negative errno */
int ml_table_rows_open(struct ml_table_rows *rows, const struct ml_trace *trace,
                       const struct ml_table_kind *kind, struct ml_error *err);
void ml_table_rows_close(struct ml_table_rows *rows);

/* From now on, times and addresses that an imported file lacked are null instead of the
 * importer's substitutes. */
void ml_table_rows_hide_unknown(struct ml_table_rows *rows);

/* The next batch, valid until the next call. @return its rows, 0 at the end, or
 * negative errno */
int ml_table_rows_next(struct ml_table_rows *rows, struct ml_error *err);

/* Reports progress; there are at most as many rows as events. */
void ml_table_rows_tell(const struct ml_table_rows *rows, struct ml_progress *progress);

static inline bool ml_cell_is_null(const struct ml_table_rows *rows, size_t row, size_t column)
{
    const uint8_t *valid = rows->batch.data[column].valid;

    return rows->unknowns >> column & 1 || (valid && !(valid[row / 8] >> row % 8 & 1));
}

/* The value in a column of numbers or booleans; cast it for ML_COLUMN_I64. */
uint64_t ml_cell_number(const struct ml_table_rows *rows, size_t row, size_t column);

/* The value in a column of texts: UTF-8, NUL-terminated, valid until the rows are closed. */
const char *ml_cell_text(const struct ml_table_rows *rows, size_t row, size_t column,
                         size_t *ret_len);

#endif
