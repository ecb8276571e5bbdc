/* test_tables.c: tables as Arrow streams: their contents, and releases in any order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_analyze_fixture.h"

#include <errno.h>
#include <pthread.h>

#include "fail_nth.h"
#include "read_stream.h"

static struct ml_held_trace *hold(struct fixture *f)
{
    struct ml_held_trace *held = ml_held_take(fixture_open(f));

    assert_non_null(held);
    return held;
}

static struct ArrowArrayStream stream_of(struct ml_held_trace *held, const char *table)
{
    struct ArrowArrayStream stream;

    assert_non_null(ml_table_find(table));
    assert_int_equal(ml_table_stream(held, ml_table_find(table), &stream), 0);
    return stream;
}

static size_t column_of(const char *table, const char *name)
{
    const struct ml_table_kind *kind = ml_table_find(table);

    for (size_t i = 0; i < kind->column_count; i++)
        if (strcmp(kind->columns[i].name, name) == 0)
            return i;
    fail_msg("%s has no column %s", table, name);
    return 0;
}

/* The text of a row, "" and its length in *ret_len. */
static const char *text_at(const struct ArrowArray *column, int64_t row, int64_t *ret_len)
{
    uint32_t code = ((const uint32_t *)column->buffers[1])[row];
    const int64_t *offsets = column->dictionary->buffers[1];

    assert_true(code < column->dictionary->length);
    *ret_len = offsets[code + 1] - offsets[code];
    return (const char *)column->dictionary->buffers[2] + offsets[code];
}

#define assert_text(column, row, expected)                                                         \
    do {                                                                                           \
        int64_t len_;                                                                              \
        const char *text_ = text_at((column), (row), &len_);                                       \
        assert_int_equal(len_, strlen(expected));                                                  \
        assert_memory_equal(text_, expected, strlen(expected));                                    \
    } while (0)

static void batches_outlive_stream_and_trace(void **state)
{
    struct fixture f = fixture_begin();
    struct ml_held_trace *held;
    struct ArrowArrayStream stream;
    struct ArrowArray batch, end, bytes;

    (void)state;
    fixture_alloc(&f, f.block, 0x1000, 100);
    fixture_alloc(&f, f.block, 0x2000, 200);
    held = hold(&f);
    stream = stream_of(held, "events");
    ml_held_drop(held);
    assert_int_equal(stream.get_next(&stream, &batch), 0);
    assert_int_equal(stream.get_next(&stream, &end), 0);
    assert_null(end.release);
    assert_int_equal(stream.get_next(&stream, &end), 0);
    assert_null(end.release);
    stream.release(&stream);
    assert_null(stream.release);

    /* A column that was moved out lives on by itself. */
    bytes = *batch.children[column_of("events", "bytes")];
    batch.children[column_of("events", "bytes")]->release = NULL;
    assert_text(batch.children[column_of("events", "kind")], 1, "alloc");
    batch.release(&batch);
    assert_int_equal(((const uint64_t *)bytes.buffers[1])[1], 200);
    bytes.release(&bytes);
}

static void names_that_are_not_utf8(void **state)
{
    struct fixture f = fixture_begin();
    struct ml_held_trace *held;
    struct ArrowArrayStream stream;
    struct ArrowArray batch;

    (void)state;
    fixture_alloc(&f, f.block, 0x1000, 100);
    fixture_label(&f, f.block, 0x1000,
                  "a\xff"
                  "b",
                  MEMLEDGER_PARAMETER);
    held = hold(&f);
    stream = stream_of(held, "labels");
    assert_int_equal(stream.get_next(&stream, &batch), 0);
    assert_int_equal(batch.length, 1);
    assert_text(batch.children[column_of("labels", "label")], 0,
                "a\xef\xbf\xbd"
                "b");
    assert_text(batch.children[column_of("labels", "category")], 0, "parameter");
    batch.release(&batch);
    stream.release(&stream);
    ml_held_drop(held);
}

/* More than a batch, and a dictionary that grows with the second. */
static void dictionaries_grow(void **state)
{
    enum { FIRST = ML_BATCH_ROWS };
    struct fixture f = fixture_begin();
    struct ml_held_trace *held;
    struct ArrowArrayStream stream;
    struct ArrowArray one, two;
    size_t kind = column_of("events", "kind");

    (void)state;
    for (uint64_t i = 0; i < FIRST; i++)
        fixture_alloc(&f, f.block, 0x1000 * (i + 1), 8);
    fixture_free(&f, f.block, 0x1000);
    held = hold(&f);
    stream = stream_of(held, "events");
    assert_int_equal(stream.get_next(&stream, &one), 0);
    assert_int_equal(stream.get_next(&stream, &two), 0);
    assert_int_equal(one.length, FIRST);
    assert_int_equal(two.length, 1);
    assert_int_equal(one.children[kind]->dictionary->length, 1);
    assert_int_equal(two.children[kind]->dictionary->length, 2);
    assert_text(two.children[kind], 0, "free");
    one.release(&one);
    two.release(&two);
    stream.release(&stream);
    ml_held_drop(held);
}

static bool bit(const struct ArrowArray *column, int buffer, size_t row)
{
    return ((const uint8_t *)column->buffers[buffer])[row / 8] >> row % 8 & 1;
}

/* Rows survive, whenever the batch gets more memory. */
static void batches_grow(void **state)
{
    static const struct ml_column columns[] = {
        {"number", ML_COLUMN_U64, true, NULL},
        {"small", ML_COLUMN_U32, false, NULL},
        {"flag", ML_COLUMN_BOOL, false, NULL},
    };
    struct ml_batch b;
    struct ArrowArray got;

    (void)state;
    ml_batch_init(&b, NULL, columns, 3);
    assert_int_equal(ml_batch_begin(&b), 0);
    for (uint32_t i = 0; ml_batch_room(&b); i++) {
        if (i % 3)
            ml_batch_u64(&b, 0, (uint64_t)i << 32);
        else
            ml_batch_null(&b, 0);
        ml_batch_u32(&b, 1, i);
        ml_batch_bool(&b, 2, i % 5 == 0);
        ml_batch_end_row(&b);
    }
    assert_int_equal(ml_batch_export(&b, &got), 0);
    assert_int_equal(got.length, ML_BATCH_ROWS);
    assert_int_equal(got.children[0]->null_count, (ML_BATCH_ROWS + 2) / 3);
    for (uint32_t i = 0; i < ML_BATCH_ROWS; i++) {
        assert_int_equal(bit(got.children[0], 0, i), i % 3 != 0);
        assert_int_equal(((const uint64_t *)got.children[0]->buffers[1])[i],
                         i % 3 ? (uint64_t)i << 32 : 0);
        assert_int_equal(((const uint32_t *)got.children[1]->buffers[1])[i], i);
        assert_int_equal(bit(got.children[2], 1, i), i % 5 == 0);
    }
    got.release(&got);
    ml_batch_release(&b);
}

static void *release_batch(void *arg)
{
    struct ArrowArray *batch = arg;

    batch->release(batch);
    return NULL;
}

static void released_by_other_threads(void **state)
{
    enum { STREAMS = 8 };
    struct fixture f = fixture_begin();
    struct ml_held_trace *held;
    struct ArrowArray batches[STREAMS];
    pthread_t threads[STREAMS];

    (void)state;
    fixture_alloc(&f, f.block, 0x1000, 100);
    held = hold(&f);
    for (int i = 0; i < STREAMS; i++) {
        struct ArrowArrayStream stream = stream_of(held, "allocations");

        assert_int_equal(stream.get_next(&stream, &batches[i]), 0);
        stream.release(&stream);
    }
    ml_held_drop(held);
    for (int i = 0; i < STREAMS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, release_batch, &batches[i]), 0);
    for (int i = 0; i < STREAMS; i++)
        pthread_join(threads[i], NULL);
}

static void every_table_has_a_schema(void **state)
{
    (void)state;
    for (size_t i = 0; ml_tables[i]; i++) {
        struct ArrowSchema schema;

        assert_int_equal(
            ml_columns_export(ml_tables[i]->columns, ml_tables[i]->column_count, &schema), 0);
        assert_string_equal(schema.format, "+s");
        assert_int_equal(schema.n_children, ml_tables[i]->column_count);
        for (int64_t c = 0; c < schema.n_children; c++) {
            assert_true(schema.children[c]->name[0] != '\0');
            assert_true(!schema.children[c]->dictionary ||
                        strcmp(schema.children[c]->dictionary->format, "U") == 0);
        }
        schema.release(&schema);
        assert_null(schema.release);
    }
    assert_null(ml_table_find("nothing"));
}

static struct ml_held_trace *small_trace(void)
{
    struct fixture f = fixture_begin();

    for (uint64_t i = 1; i < 20; i++) {
        fixture_alloc(&f, f.block, 0x1000 * i, 8);
        fixture_label(&f, f.block, 0x1000 * i, i % 2 ? "a" : "b", MEMLEDGER_BUFFER);
    }
    fixture_event(&f, (struct ml_event){.kind = ML_MOVE, .space = f.block, .addr = 0x1000});
    return hold(&f);
}

/* @return 0 or a positive errno */
static int read_table(struct ml_held_trace *held, const struct ml_table_kind *kind)
{
    struct ArrowArrayStream stream;
    struct ArrowArray batch;
    int code = -ml_table_stream(held, kind, &stream);

    if (code)
        return code;
    while ((code = stream.get_next(&stream, &batch)) == 0 && batch.release)
        batch.release(&batch);
    assert_true(!code || stream.get_last_error(&stream)[0]);
    stream.release(&stream);
    return code;
}

/* The Nth allocation fails and all after it, for every N. */
static void memory_runs_out(void **state)
{
    struct ml_held_trace *held = small_trace();

    (void)state;
    for (size_t i = 0; ml_tables[i]; i++) {
        int code = ENOMEM;

        for (long n = 0; code && n < 10000; n++) {
            fail_from_nth(n);
            code = read_table(held, ml_tables[i]);
            fail_end();
            assert_true(code == 0 || code == ENOMEM);
        }
        assert_int_equal(code, 0);
    }
    ml_held_drop(held);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_outlive_stream_and_trace),
        cmocka_unit_test(names_that_are_not_utf8),
        cmocka_unit_test(dictionaries_grow),
        cmocka_unit_test(batches_grow),
        cmocka_unit_test(released_by_other_threads),
        cmocka_unit_test(every_table_has_a_schema),
        cmocka_unit_test(memory_runs_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
