/* arrow_batch.c: see arrow_batch.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "arrow_batch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 64 /* what Arrow asks for */
#define BITMAP_BYTES (ML_BATCH_ROWS / 8)

static size_t value_bytes(enum ml_column_type type)
{
    switch (type) {
    case ML_COLUMN_U64:
    case ML_COLUMN_I64: return ML_BATCH_ROWS * sizeof(uint64_t);
    case ML_COLUMN_U32:
    case ML_COLUMN_TEXT: return ML_BATCH_ROWS * sizeof(uint32_t);
    case ML_COLUMN_BOOL: return BITMAP_BYTES;
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

int ml_batch_begin(struct ml_batch *b)
{
    free_values(b);
    b->rows = 0;
    for (size_t i = 0; i < b->column_count; i++) {
        struct ml_batch_column *data = &b->data[i];

        data->nulls = 0;
        data->values = aligned_alloc(ALIGNMENT, value_bytes(b->columns[i].type));
        if (b->columns[i].nullable)
            data->valid = aligned_alloc(ALIGNMENT, BITMAP_BYTES);
        if (!data->values || (b->columns[i].nullable && !data->valid))
            return b->error = -ENOMEM;
        if (data->valid)
            memset(data->valid, 0xff, BITMAP_BYTES);
        if (b->columns[i].type == ML_COLUMN_BOOL)
            memset(data->values, 0, BITMAP_BYTES);
    }
    return 0;
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
    /* Whoever does not look at the bit reads a value that is none. */
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
