/* fuzz_tables.c: any bytes as a trace: each of its tables, read as an Arrow stream to the end.
 * The stream is well formed, or the reason is reported.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz.h"

#include "read_stream.h"
#include "trace_sample.h"

static bool is_set(const struct ArrowArray *column, int64_t row)
{
    const uint8_t *valid = column->buffers[0];

    return !valid || (valid[row / 8] >> (row % 8) & 1);
}

/* Codes are within the dictionary, whose offsets ascend. */
static void look_at_texts(const struct ArrowArray *column)
{
    const struct ArrowArray *dictionary = column->dictionary;
    const int64_t *offsets = dictionary->buffers[1];
    const uint32_t *codes = column->buffers[1];

    for (int64_t i = 0; i < dictionary->length; i++)
        FUZZ_REQUIRE(offsets[i] <= offsets[i + 1]);
    for (int64_t i = 0; i < column->length; i++)
        FUZZ_REQUIRE(!is_set(column, i) || codes[i] < dictionary->length);
}

static void look_at_batch(const struct ml_table_kind *kind, const struct ArrowArray *batch)
{
    FUZZ_REQUIRE(batch->length > 0 && batch->length <= ML_BATCH_ROWS);
    FUZZ_REQUIRE(batch->n_children == (int64_t)kind->column_count);
    for (int64_t i = 0; i < batch->n_children; i++) {
        const struct ArrowArray *column = batch->children[i];
        int64_t nulls = 0;

        FUZZ_REQUIRE(column->length == batch->length);
        for (int64_t row = 0; row < column->length; row++)
            nulls += !is_set(column, row);
        FUZZ_REQUIRE(nulls == column->null_count);
        if (column->dictionary)
            look_at_texts(column);
    }
}

static void read_table(struct ml_held_trace *held, const struct ml_table_kind *kind)
{
    struct ArrowArrayStream stream;
    struct ArrowArray batch;
    int code;

    if (ml_table_stream(held, kind, &stream))
        return;
    while ((code = stream.get_next(&stream, &batch)) == 0 && batch.release) {
        look_at_batch(kind, &batch);
        batch.release(&batch);
    }
    FUZZ_REQUIRE(!code || (code > 0 && stream.get_last_error(&stream)[0]));
    stream.release(&stream);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct ml_error err = {0};
    struct ml_trace *trace = NULL;
    struct ml_held_trace *held;

    if (ml_bytes_open(data, len, true, &trace, &err))
        return 0;
    held = ml_held_take(trace);
    if (!held) {
        ml_trace_free(trace);
        return 0;
    }
    for (size_t i = 0; ml_tables[i]; i++)
        read_table(held, ml_tables[i]);
    ml_held_drop(held);
    return 0;
}
