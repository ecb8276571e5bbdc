/* table_rows.h: the rows of a table of a trace, read cell by cell: what the formats that
 * hold whole tables (csv, json, sqlite) share.
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
    uint32_t unknowns; /* columns, a bit each, that are null whatever the trace has there */
};
static_assert(ML_COLUMNS_MAX <= 32, "bits of unknowns");

/* @rows   to be closed, after a failure too
 * @return 0 or negative errno */
int ml_table_rows_open(struct ml_table_rows *rows, const struct ml_trace *trace,
                       const struct ml_table_kind *kind, struct ml_error *err);
void ml_table_rows_close(struct ml_table_rows *rows);

/* From now on times and addresses that an imported file did not tell are null, instead of
 * the numbers of the importer's own that stand in for them. */
void ml_table_rows_hide_unknown(struct ml_table_rows *rows);

/* The next batch, valid until the next call. @return its rows, 0 at the end, or
 * negative errno */
int ml_table_rows_next(struct ml_table_rows *rows, struct ml_error *err);

/* How far the reading has come; rows are at most as many as there are events. */
void ml_table_rows_tell(const struct ml_table_rows *rows, struct ml_progress *progress);

static inline bool ml_cell_is_null(const struct ml_table_rows *rows, size_t row, size_t column)
{
    const uint8_t *valid = rows->batch.data[column].valid;

    return rows->unknowns >> column & 1 || (valid && !(valid[row / 8] >> row % 8 & 1));
}

/* Of a column of numbers or truth values; one of ML_COLUMN_I64 is to be cast. */
uint64_t ml_cell_number(const struct ml_table_rows *rows, size_t row, size_t column);

/* Of a column of texts: UTF-8 with a NUL behind it, valid until the rows are closed. */
const char *ml_cell_text(const struct ml_table_rows *rows, size_t row, size_t column,
                         size_t *ret_len);

#endif
