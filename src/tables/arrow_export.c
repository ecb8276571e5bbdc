/* arrow_export.c: a batch and its columns as Arrow's structs.
 *
 * A receiver may move a column out and release it separately, so each column owns its buffers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdlib.h>

#include "arrow_batch.h"

struct exported_column {
    const void *buffers[2]; /* validity, values */
    struct ArrowArray dictionary;
};

struct exported_batch {
    const void *buffers[1]; /* validity: none */
    struct ArrowArray *pointers[ML_COLUMNS_MAX];
    struct ArrowArray columns[ML_COLUMNS_MAX];
};

static void release_column(struct ArrowArray *array)
{
    struct exported_column *column = array->private_data;

    free((void *)column->buffers[0]);
    free((void *)column->buffers[1]);
    if (column->dictionary.release)
        column->dictionary.release(&column->dictionary);
    free(column);
    array->release = NULL;
}

static void release_batch(struct ArrowArray *array)
{
    for (int64_t i = 0; i < array->n_children; i++)
        if (array->children[i]->release)
            array->children[i]->release(array->children[i]);
    free(array->private_data);
    array->release = NULL;
}

/* Takes over the column's buffers. */
static int export_column(struct ml_batch *b, size_t i, struct ArrowArray *ret)
{
    struct ml_batch_column *data = &b->data[i];
    struct exported_column *column = calloc(1, sizeof(*column));
    bool is_text = b->columns[i].type == ML_COLUMN_TEXT;

    if (!column ||
        (is_text && ml_arrow_dictionary_export(&data->dictionary, &column->dictionary) < 0)) {
        free(column);
        return -ENOMEM;
    }
    column->buffers[0] = data->valid;
    column->buffers[1] = data->values;
    data->valid = NULL;
    data->values = NULL;
    *ret = (struct ArrowArray){
        .length = (int64_t)b->rows,
        .null_count = data->nulls,
        .n_buffers = 2,
        .buffers = column->buffers,
        .dictionary = is_text ? &column->dictionary : NULL,
        .release = release_column,
        .private_data = column,
    };
    return 0;
}

int ml_batch_export(struct ml_batch *b, struct ArrowArray *ret)
{
    struct exported_batch *batch = calloc(1, sizeof(*batch));

    if (!batch)
        return -ENOMEM;
    *ret = (struct ArrowArray){
        .length = (int64_t)b->rows,
        .n_buffers = 1,
        .buffers = batch->buffers,
        .children = batch->pointers,
        .release = release_batch,
        .private_data = batch,
    };
    for (size_t i = 0; i < b->column_count; i++) {
        batch->pointers[i] = &batch->columns[i];
        if (export_column(b, i, &batch->columns[i]) < 0) {
            release_batch(ret);
            return -ENOMEM;
        }
        ret->n_children++;
    }
    return 0;
}

/* ---- Schema ------------------------------------------------------------ */

struct exported_schema {
    struct ArrowSchema *pointers[ML_COLUMNS_MAX];
    struct ArrowSchema columns[ML_COLUMNS_MAX];
};

/* Names and formats are constants of this library. */
static void release_part(struct ArrowSchema *schema)
{
    if (schema->dictionary) {
        if (schema->dictionary->release)
            schema->dictionary->release(schema->dictionary);
        free(schema->dictionary);
    }
    schema->release = NULL;
}

static void release_schema(struct ArrowSchema *schema)
{
    for (int64_t i = 0; i < schema->n_children; i++)
        if (schema->children[i]->release)
            schema->children[i]->release(schema->children[i]);
    free(schema->private_data);
    schema->release = NULL;
}

static const char *format_of(enum ml_column_type type)
{
    switch (type) {
    case ML_COLUMN_U64: return "L";
    case ML_COLUMN_I64: return "l";
    case ML_COLUMN_U32: return "I";
    case ML_COLUMN_BOOL: return "b";
    case ML_COLUMN_TEXT: return "i"; /* of the codes */
    }
    return "n";
}

static int export_field(const struct ml_column *column, struct ArrowSchema *ret)
{
    *ret = (struct ArrowSchema){
        .format = format_of(column->type),
        .name = column->name,
        .flags = column->nullable ? ARROW_FLAG_NULLABLE : 0,
        .release = release_part,
    };
    if (column->type != ML_COLUMN_TEXT)
        return 0;
    ret->dictionary = malloc(sizeof(*ret->dictionary));
    if (!ret->dictionary)
        return -ENOMEM;
    *ret->dictionary = (struct ArrowSchema){.format = "U", .name = "", .release = release_part};
    return 0;
}

int ml_columns_export(const struct ml_column *columns, size_t count, struct ArrowSchema *ret)
{
    struct exported_schema *schema = calloc(1, sizeof(*schema));

    if (!schema)
        return -ENOMEM;
    *ret = (struct ArrowSchema){
        .format = "+s",
        .name = "",
        .children = schema->pointers,
        .release = release_schema,
        .private_data = schema,
    };
    for (size_t i = 0; i < count; i++) {
        schema->pointers[i] = &schema->columns[i];
        ret->n_children++;
        if (export_field(&columns[i], &schema->columns[i]) < 0) {
            release_schema(ret);
            return -ENOMEM;
        }
    }
    return 0;
}
