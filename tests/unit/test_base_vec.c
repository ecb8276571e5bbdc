/* test_base_vec.c: the byte buffer and the typed vector of base/vec.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "vec.h"

static void buf_starts_without_memory(void **state)
{
    struct ml_buf buf;

    (void)state;
    ml_buf_init(&buf);
    assert_null(buf.data);
    assert_int_equal(buf.len, 0);
    ml_buf_clear(&buf);
    ml_buf_release(&buf);
    ml_buf_release(&buf);
}

static void buf_appends_and_terminates(void **state)
{
    struct ml_buf buf = {0};

    (void)state;
    assert_int_equal(ml_buf_append(&buf, NULL, 0), 0);
    assert_string_equal((char *)buf.data, "");
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(ml_buf_append(&buf, "a\0b", 3), 0);
        assert_int_equal(buf.data[buf.len], 0);
    }
    assert_int_equal(buf.len, 3000);
    assert_memory_equal(buf.data + 2997, "a\0b", 4);
    ml_buf_clear(&buf);
    assert_string_equal((char *)buf.data, "");
    assert_int_equal(ml_buf_puts(&buf, "left"), 0);
    assert_int_equal(ml_buf_fill(&buf, '.', 3), 0);
    assert_int_equal(ml_buf_fill(&buf, '.', 0), 0);
    assert_string_equal((char *)buf.data, "left...");
    ml_buf_release(&buf);
}

static void buf_reserved_room_can_be_filled(void **state)
{
    struct ml_buf buf = {0};

    (void)state;
    assert_int_equal(ml_buf_reserve(&buf, 100), 0);
    assert_true(buf.cap > 100);
    memset(buf.data, 'x', 100);
    buf.len = 100;
    assert_int_equal(ml_buf_reserve(&buf, 0), 0);
    assert_int_equal(buf.data[100], 0);
    ml_buf_release(&buf);
}

static void buf_refuses_the_impossible(void **state)
{
    struct ml_buf buf = {0};

    (void)state;
    assert_int_equal(ml_buf_puts(&buf, "kept"), 0);
    assert_int_equal(ml_buf_reserve(&buf, SIZE_MAX), -ENOMEM);
    assert_int_equal(ml_buf_reserve(&buf, SIZE_MAX - 1), -ENOMEM);
    assert_int_equal(ml_buf_reserve(&buf, PTRDIFF_MAX), -ENOMEM);
    assert_string_equal((char *)buf.data, "kept");
    ml_buf_release(&buf);
}

/* Every length around the first capacities: an off-by-one would cut the text. */
static void buf_prints_every_length(void **state)
{
    char expected[512];

    (void)state;
    memset(expected, 'x', sizeof(expected));
    for (int len = 0; len < 500; len++) {
        struct ml_buf buf = {0};

        assert_int_equal(ml_buf_printf(&buf, "%.*s", len, expected), 0);
        assert_int_equal(ml_buf_printf(&buf, "%.*s|%d", len, expected, len), 0);
        assert_true(buf.len >= (size_t)len * 2 + 2);
        assert_int_equal(strlen((char *)buf.data), buf.len);
        assert_memory_equal(buf.data, expected, len);
        ml_buf_release(&buf);
    }
}

static void vec_pushes_structs(void **state)
{
    struct pair {
        int a;
        double b;
    };
    ML_VEC(struct pair) pairs = {0};

    (void)state;
    for (int i = 0; i < 10000; i++)
        assert_int_equal(ml_vec_push(&pairs, (struct pair){.a = i, .b = i / 2.0}), 0);
    assert_int_equal(pairs.len, 10000);
    for (int i = 0; i < 10000; i++) {
        assert_int_equal(pairs.items[i].a, i);
        assert_true(pairs.items[i].b == i / 2.0);
    }
    ml_vec_clear(&pairs);
    assert_int_equal(pairs.len, 0);
    assert_true(pairs.cap >= 10000);
    ml_vec_release(&pairs);
    assert_null(pairs.items);
    ml_vec_release(&pairs);
}

/* The item is read after the vector has moved, so it may be one of its own. */
static void vec_pushes_its_own_items(void **state)
{
    ML_VEC(uint64_t) v = {0};

    (void)state;
    assert_int_equal(ml_vec_push(&v, 42), 0);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(ml_vec_push(&v, v.items[v.len - 1]), 0);
    assert_int_equal(v.items[1000], 42);
    ml_vec_release(&v);
}

static void vec_reserve_does_not_overflow(void **state)
{
    ML_VEC(uint64_t) v = {0};

    (void)state;
    assert_int_equal(ml_vec_reserve(&v, SIZE_MAX / 8), -ENOMEM);
    assert_int_equal(ml_vec_reserve(&v, SIZE_MAX), -ENOMEM);
    assert_int_equal(ml_vec_push(&v, 1), 0);
    assert_int_equal(ml_vec_reserve(&v, SIZE_MAX), -ENOMEM);
    assert_int_equal(v.items[0], 1);
    assert_int_equal(ml_vec_reserve(&v, 100), 0);
    assert_true(v.cap >= 101);
    ml_vec_release(&v);
}

static void numbers_are_as_printf_writes_them(void **state)
{
    const uint64_t numbers[] = {
        0, 1, 9, 10, 99, 100, 1234567890, INT64_MAX, (uint64_t)INT64_MIN, UINT64_MAX};
    struct ml_buf buf;
    char wanted[64];

    (void)state;
    ml_buf_init(&buf);
    for (size_t i = 0; i < ML_ARRAY_SIZE(numbers); i++) {
        ml_buf_clear(&buf);
        assert_int_equal(ml_buf_u64(&buf, numbers[i]), 0);
        assert_int_equal(ml_buf_puts(&buf, " "), 0);
        assert_int_equal(ml_buf_i64(&buf, (int64_t)numbers[i]), 0);
        snprintf(wanted, sizeof(wanted), "%" PRIu64 " %" PRIi64, numbers[i], (int64_t)numbers[i]);
        assert_string_equal((const char *)buf.data, wanted);
    }
    ml_buf_release(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_as_printf_writes_them),
        cmocka_unit_test(buf_starts_without_memory),
        cmocka_unit_test(buf_appends_and_terminates),
        cmocka_unit_test(buf_reserved_room_can_be_filled),
        cmocka_unit_test(buf_refuses_the_impossible),
        cmocka_unit_test(buf_prints_every_length),
        cmocka_unit_test(vec_pushes_structs),
        cmocka_unit_test(vec_pushes_its_own_items),
        cmocka_unit_test(vec_reserve_does_not_overflow),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
