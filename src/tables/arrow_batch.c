/* arrow_batch.c: see arrow_batch.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "arrow_batch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 64   /* recommended by Arrow */
#define FIRST_ROWS 512 /* a bitmap of them is as long as the alignment */
#define GROWTH 8

/* Rounded up to the alignment, as aligned_alloc requires. */
static size_t bitmap_bytes(size_t rows)
{
    return rows / 8;
}

static size_t value_bytes(enum ml_column_type type, size_t rows)
{
    switch (type) {
    case ML_COLUMN_U64:
    case ML_COLUMN_I64: return rows * sizeof(uint64_t);
    case ML_COLUMN_U32:
    case ML_COLUMN_TEXT: return rows * sizeof(uint32_t);
    case ML_COLUMN_BOOL: return bitmap_bytes(rows);
    }
    return 0;
}

void ml_batch_init(struct ml_batch *b, const struct ml_trace *trace,
                   const struct ml_column *columns, size_t column_count)
{
    *b = (struct ml_batch){.trace = trace, .columns = columns, .column_count = column_count};
}

static void free_values(struct ml_batch *b)
{
    for (size_t i = 0; i < b->column_count; i++) {
        free(b->data[i].values);
        free(b->data[i].valid);
        b->data[i].values = NULL;
        b->data[i].valid = NULL;
    }
}

void ml_batch_release(struct ml_batch *b)
{
    free_values(b);
    for (size_t i = 0; i < b->column_count; i++)
        ml_arrow_dictionary_release(&b->data[i].dictionary);
    ml_buf_release(&b->scratch);
}

/* @return a longer copy that replaces `buffer`, or NULL with `buffer` unchanged */
static void *lengthen(void *buffer, size_t bytes, size_t new_bytes)
{
    void *longer = aligned_alloc(ALIGNMENT, new_bytes);

    if (longer && bytes)
        memcpy(longer, buffer, bytes);
    if (longer)
        free(buffer);
    return longer;
}

static void *lengthen_bitmap(void *bitmap, size_t bytes, size_t new_bytes, int fill)
{
    uint8_t *longer = lengthen(bitmap, bytes, new_bytes);

    if (longer)
        memset(longer + bytes, fill, new_bytes - bytes);
    return longer;
}

static int make_room_in(struct ml_batch_column *data, const struct ml_column *column, size_t had,
                        size_t rows)
{
    size_t bytes = value_bytes(column->type, had), new_bytes = value_bytes(column->type, rows);
    void *values = column->type == ML_COLUMN_BOOL
                       ? lengthen_bitmap(data->values, bytes, new_bytes, 0)
                       : lengthen(data->values, bytes, new_bytes);
    uint8_t *valid;

    if (!values)
        return -ENOMEM;
    data->values = values;
    if (!column->nullable)
        return 0;
    valid = lengthen_bitmap(data->valid, bitmap_bytes(had), bitmap_bytes(rows), 0xff);
    if (!valid)
        return -ENOMEM;
    data->valid = valid;
    return 0;
}

static int make_room(struct ml_batch *b, size_t rows)
{
    for (size_t i = 0; i < b->column_count; i++)
        if (make_room_in(&b->data[i], &b->columns[i], b->capacity, rows))
            return b->error = b->error ? b->error : -ENOMEM;
    b->capacity = rows;
    return 0;
}

int ml_batch_begin(struct ml_batch *b)
{
    free_values(b);
    b->rows = b->capacity = 0;
    for (size_t i = 0; i < b->column_count; i++)
        b->data[i].nulls = 0;
    return make_room(b, FIRST_ROWS);
}

void ml_batch_grow(struct ml_batch *b)
{
    if (make_room(b, ml_min_u64(b->capacity * GROWTH, ML_BATCH_ROWS)))
        b->rows--;
}

void ml_batch_bool(struct ml_batch *b, size_t column, bool value)
{
    if (value)
        ((uint8_t *)b->data[column].values)[b->rows / 8] |= (uint8_t)(1u << b->rows % 8);
}

void ml_batch_null(struct ml_batch *b, size_t column)
{
    struct ml_batch_column *data = &b->data[column];

    data->valid[b->rows / 8] &= (uint8_t) ~(1u << b->rows % 8);
    data->nulls++;
    /* A reader that ignores the bit gets a value that no row has. */
    if (b->columns[column].type == ML_COLUMN_U32 || b->columns[column].type == ML_COLUMN_TEXT)
        ml_batch_u32(b, column, 0);
    else if (b->columns[column].type != ML_COLUMN_BOOL)
        ml_batch_u64(b, column, 0);
}

static void put_code(struct ml_batch *b, size_t column, int32_t code)
{
    if (code == ML_NO_TEXT)
        ml_batch_null(b, column);
    else
        ml_batch_u32(b, column, (uint32_t)code);
}

/* @return the code of the number's text, ML_NO_TEXT, or -1 with b->error set */
static int32_t look_up(struct ml_batch *b, size_t column, uint64_t number)
{
    struct ml_arrow_dictionary *dictionary = &b->data[column].dictionary;
    int32_t code = ML_NO_TEXT;
    int r;

    ml_buf_clear(&b->scratch);
    r = b->columns[column].text(b->trace, number, &b->scratch);
    if (r == 0) {
        r = ml_arrow_dictionary_put(dictionary, (const char *)b->scratch.data, b->scratch.len);
        code = r < 0 ? ML_NO_TEXT : r;
    }
    if (r >= 0)
        r = ml_arrow_dictionary_keep(dictionary, number, code);
    if (r < 0 && !b->error)
        b->error = r;
    return code;
}

void ml_batch_text(struct ml_batch *b, size_t column, uint64_t number)
{
    int32_t code;

    if (!ml_arrow_dictionary_find(&b->data[column].dictionary, number, &code))
        code = look_up(b, column, number);
    if (!b->error)
        put_code(b, column, code);
}

void ml_batch_cstr(struct ml_batch *b, size_t column, const char *text)
{
    int32_t code = ML_NO_TEXT;

    if (text) {
        code = ml_arrow_dictionary_put(&b->data[column].dictionary, text, strlen(text));
        if (code < 0) {
            b->error = b->error ? b->error : code;
            return;
        }
    }
    put_code(b, column, code);
}
