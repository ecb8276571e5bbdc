/* test_format_defs.c: definition records and index entries as bytes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "block.h"
#include "def_columns.h"
#include "defs.h"
#include "index.h"
#include "varint.h"

static const uint8_t fields_of[ML_DEF_TAGS] = {0, 0, 6, 4, 4, 4, 4, 1, 5, 4, 2, 3};

static void records_come_back(void **state)
{
    uint8_t bytes[512];

    (void)state;
    for (unsigned tag = ML_DEF_PROCESS; tag < ML_DEF_TAGS; tag++) {
        struct ml_def def = {.tag = (uint8_t)tag, .id = ML_ID_MAX - 1}, got;
        const uint8_t *end;

        for (int i = 0; i < fields_of[tag]; i++)
            def.fields[i] = UINT64_MAX >> i * 10;
        end = ml_def_put(bytes, &def);
        assert_true((size_t)(end - bytes) <= ml_def_room(&def));
        assert_ptr_equal(ml_def_get(bytes, end, &got), end);
        assert_int_equal(got.tag, tag);
        assert_int_equal(got.id, def.id);
        assert_memory_equal(got.fields, def.fields, sizeof(def.fields));
    }
}

static void string_comes_back(void **state)
{
    struct ml_def def = {.tag = ML_DEF_STRING, .id = 3, .bytes = "a\0\xff", .len = 3}, got;
    uint8_t bytes[128];
    const uint8_t *end = ml_def_put(bytes, &def);

    (void)state;
    assert_ptr_equal(ml_def_get(bytes, end, &got), end);
    assert_int_equal(got.len, 3);
    assert_memory_equal(got.bytes, "a\0\xff", 3);
}

static size_t put_many(uint8_t *bytes)
{
    uint8_t *end = bytes;

    for (unsigned i = 0; i < 400; i++) {
        struct ml_def def = {.tag = (uint8_t)(1 + i % (ML_DEF_TAGS - 1)), .id = i * 7 % 100};

        for (int field = 0; field < ml_def_field_count(def.tag); field++)
            def.fields[field] = i % 9 ? i * (unsigned)field : UINT64_MAX - i;
        if (def.tag == ML_DEF_STRING) {
            def.bytes = "some bytes";
            def.len = i % 11;
        }
        end = ml_def_put(end, &def);
    }
    return (size_t)(end - bytes);
}

static void columns_come_back(void **state)
{
    static uint8_t records[40000], columns[90000], got[50000];
    size_t len = put_many(records);
    size_t bytes = ml_def_columns_put(columns, records, len);

    (void)state;
    assert_true(bytes > 0 && bytes <= ml_def_columns_room(len));
    assert_true(ml_def_columns_records_room(columns, bytes) <= sizeof(got));
    assert_int_equal(ml_def_columns_get(columns, bytes, got), len);
    assert_memory_equal(got, records, len);
}

/* Any damage: no more than the room is written. That nothing else is read is for the sanitizer. */
static void damaged_columns_do_no_harm(void **state)
{
    static uint8_t records[40000], columns[90000];
    size_t bytes = ml_def_columns_put(columns, records, put_many(records));

    (void)state;
    for (size_t i = 0; i < bytes * 8; i += i < 2000 ? 1 : 37) {
        size_t room;

        columns[i / 8] ^= (uint8_t)(1 << i % 8);
        room = ml_def_columns_records_room(columns, bytes);
        if (room) {
            uint8_t *got = malloc(room);

            assert_non_null(got);
            assert_true(ml_def_columns_get(columns, bytes, got) <= room);
            free(got);
        }
        columns[i / 8] ^= (uint8_t)(1 << i % 8);
    }
    assert_int_equal(ml_def_columns_records_room(columns, 0), 0);
}

static void every_cut_is_seen(void **state)
{
    struct ml_def def = {.tag = ML_DEF_SPACE, .id = 300, .fields = {1, 2000, 3, 1u << 30}}, got;
    uint8_t bytes[128];
    const uint8_t *end = ml_def_put(bytes, &def);

    (void)state;
    for (const uint8_t *cut = bytes; cut < end; cut++)
        assert_null(ml_def_get(bytes, cut, &got));
}

/* What a later version may write: tags and fields that are not known here. */
static void unknown_parts_are_skipped(void **state)
{
    const uint8_t unknown_tag[] = {99, 2, 0xff, 0xff};
    const uint8_t longer_thread[] = {ML_DEF_THREAD, 7, 5, 1, 2, 3, 4, 0xee, 0xee};
    struct ml_def got;

    (void)state;
    assert_ptr_equal(ml_def_get(unknown_tag, unknown_tag + 4, &got), unknown_tag + 4);
    assert_int_equal(got.tag, 99);
    assert_ptr_equal(ml_def_get(longer_thread, longer_thread + 9, &got), longer_thread + 9);
    assert_int_equal(got.id, 5);
    assert_int_equal(got.fields[ML_THREAD_NAME], 4);
}

/* What minor version 1 wrote: a scope without a class. */
static void earlier_scope_has_no_class(void **state)
{
    const uint8_t scope[] = {ML_DEF_SCOPE, 4, 5, 1, 2, 3};
    const uint8_t shorter[] = {ML_DEF_SCOPE, 3, 5, 1, 2};
    struct ml_def got;

    (void)state;
    assert_ptr_equal(ml_def_get(scope, scope + 6, &got), scope + 6);
    assert_int_equal(got.fields[ML_SCOPE_NAME], 3);
    assert_int_equal(got.fields[ML_SCOPE_CLASS], 0);
    assert_null(ml_def_get(shorter, shorter + 5, &got));
}

/* What minor version 2 wrote: a process without a role. */
static void earlier_process_has_no_role(void **state)
{
    const uint8_t process[] = {ML_DEF_PROCESS, 6, 5, 100, 0, 1, 2, 3};
    struct ml_def got;

    (void)state;
    assert_ptr_equal(ml_def_get(process, process + 8, &got), process + 8);
    assert_int_equal(got.fields[ML_PROCESS_COMMAND], 3);
    assert_int_equal(got.fields[ML_PROCESS_ROLE], 0);
}

static void bad_records_are_refused(void **state)
{
    const uint8_t no_tag[] = {0, 1, 1};
    const uint8_t too_short[] = {ML_DEF_THREAD, 2, 5, 1, 2, 3, 4};
    uint8_t big_id[16] = {ML_DEF_STRING, 4};
    struct ml_def got;

    (void)state;
    assert_null(ml_def_get(no_tag, no_tag + sizeof(no_tag), &got));
    assert_null(ml_def_get(too_short, too_short + sizeof(too_short), &got));
    ml_varint_put(big_id + 2, ML_ID_MAX);
    assert_null(ml_def_get(big_id, big_id + 6, &got));
}

static void index_entry_comes_back(void **state)
{
    const struct ml_index_entry e = {
        .offset = (1ull << 40) + 7,
        .first_ns = 5,
        .last_ns = UINT64_MAX,
        .stored_bytes = ML_BLOCK_MAX_BYTES,
        .events = UINT32_MAX,
        .type = 255,
    };
    uint8_t bytes[ML_INDEX_ENTRY_MAX];
    const uint8_t *end = ml_index_entry_put(bytes, &e, 1ull << 40);
    struct ml_index_entry got;

    (void)state;
    assert_ptr_equal(ml_index_entry_get(bytes, end, 1ull << 40, &got), end);
    assert_int_equal(got.offset, e.offset);
    assert_int_equal(got.first_ns, e.first_ns);
    assert_int_equal(got.last_ns, e.last_ns);
    assert_int_equal(got.stored_bytes, e.stored_bytes);
    assert_int_equal(got.events, e.events);
    assert_int_equal(got.type, e.type);
    for (const uint8_t *cut = bytes; cut < end; cut++)
        assert_null(ml_index_entry_get(bytes, cut, 1ull << 40, &got));
}

static void index_totals_come_back(void **state)
{
    struct ml_index_totals t = {.lost = 77}, got;
    uint8_t bytes[ML_INDEX_TOTALS_MAX];
    const uint8_t *end;

    (void)state;
    for (int i = 0; i < ML_KIND_COUNT; i++)
        t.events[i] = UINT64_MAX >> i;
    end = ml_index_totals_put(bytes, &t);
    assert_ptr_equal(ml_index_totals_get(bytes, end, &got), end);
    assert_memory_equal(&got, &t, sizeof(t));
    for (const uint8_t *cut = bytes; cut < end; cut++)
        assert_null(ml_index_totals_get(bytes, cut, &got));
    bytes[0] = 33; /* more kinds than a kind byte has */
    assert_null(ml_index_totals_get(bytes, end, &got));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_come_back),          cmocka_unit_test(string_comes_back),
        cmocka_unit_test(columns_come_back),          cmocka_unit_test(damaged_columns_do_no_harm),
        cmocka_unit_test(every_cut_is_seen),          cmocka_unit_test(unknown_parts_are_skipped),
        cmocka_unit_test(earlier_scope_has_no_class), cmocka_unit_test(earlier_process_has_no_role),
        cmocka_unit_test(bad_records_are_refused),    cmocka_unit_test(index_entry_comes_back),
        cmocka_unit_test(index_totals_come_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
