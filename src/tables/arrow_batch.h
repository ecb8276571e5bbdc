/* arrow_batch.h: collects rows of a table, column by column, for Arrow.
 *
 * A batch is filled row by row and then exported: the receiver takes over its buffers. This
 * code is independent of Python and does not need its lock.
 *
 *     ml_batch_u64(b, TIME, event->time_ns);
 *     ml_batch_null(b, STACK);
 *     ml_batch_end_row(b);
 *
 * The first failure is kept in `error`, so that callers need not check each cell.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ARROW_BATCH_H
#define ML_ARROW_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arrow_dictionary.h"
#include "trace.h"

#define ML_BATCH_ROWS 65536
#define ML_COLUMNS_MAX 24

enum ml_column_type {
    ML_COLUMN_U64,
    ML_COLUMN_I64,
    ML_COLUMN_U32,
    ML_COLUMN_BOOL,
    ML_COLUMN_TEXT, /* in a dictionary */
};

/* Appends the text of a number to `out`. @return 0, 1 if it has no text, or -ENOMEM */
typedef int ml_text_fn(const struct ml_trace *trace, uint64_t number, struct ml_buf *out);

struct ml_column {
    const char *name;
    enum ml_column_type type;
    bool nullable;
    ml_text_fn *text; /* of ml_batch_text's numbers */
};

struct ml_batch_column {
    void *values;
    uint8_t *valid; /* a bit per row */
    int64_t nulls;
    struct ml_arrow_dictionary dictionary; /* kept from batch to batch */
};

struct ml_batch {
    const struct ml_trace *trace;
    const struct ml_column *columns;
    size_t column_count;
    size_t rows;
    size_t capacity; /* rows that fit into the allocated memory */
    int error;       /* the first failure, negative errno */
    struct ml_buf scratch;
    struct ml_batch_column data[ML_COLUMNS_MAX];
};

void ml_batch_init(struct ml_batch *b, const struct ml_trace *trace,
                   const struct ml_column *columns, size_t column_count);
void ml_batch_release(struct ml_batch *b);

/* An empty batch; its memory grows with the rows, up to ML_BATCH_ROWS. @return 0 or -ENOMEM */
int ml_batch_begin(struct ml_batch *b);

static inline size_t ml_batch_room(const struct ml_batch *b)
{
    return b->error ? 0 : ML_BATCH_ROWS - b->rows;
}

static inline void ml_batch_u64(struct ml_batch *b, size_t column, uint64_t value)
{
    ((uint64_t *)b->data[column].values)[b->rows] = value;
}

static inline void ml_batch_i64(struct ml_batch *b, size_t column, int64_t value)
{
    ml_batch_u64(b, column, (uint64_t)value);
}

static inline void ml_batch_u32(struct ml_batch *b, size_t column, uint32_t value)
{
    ((uint32_t *)b->data[column].values)[b->rows] = value;
}

void ml_batch_bool(struct ml_batch *b, size_t column, bool value);

/* Makes a cell null; the column must be nullable. */
void ml_batch_null(struct ml_batch *b, size_t column);

/* The text of a number; looked up once for each number. */
void ml_batch_text(struct ml_batch *b, size_t column, uint64_t number);

/* A text as it is; NULL: none. */
void ml_batch_cstr(struct ml_batch *b, size_t column, const char *text);

/* Allocates memory for more rows; if that fails, the last row is dropped and `error` is set. */
void ml_batch_grow(struct ml_batch *b);

static inline void ml_batch_end_row(struct ml_batch *b)
{
    if (++b->rows == b->capacity && b->rows < ML_BATCH_ROWS)
        ml_batch_grow(b);
}

/* Exports the rows and ends the batch. @return 0 or -ENOMEM */
int ml_batch_export(struct ml_batch *b, struct ArrowArray *ret);

/* Exports the columns' names and types. @return 0 or -ENOMEM */
int ml_columns_export(const struct ml_column *columns, size_t count, struct ArrowSchema *ret);

#endif
