/* test_base_intern.c: the string table of base/intern.h and the arena under it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "arena.h"
#include "intern.h"

static void arena_aligns(void **state)
{
    struct ml_arena arena = {0};

    (void)state;
    for (size_t bytes = 0; bytes < 300; bytes++) {
        void *p = ml_arena_alloc(&arena, bytes);

        assert_non_null(p);
        assert_int_equal((uintptr_t)p % _Alignof(max_align_t), 0);
        memset(p, 0xff, bytes);
        assert_non_null(ml_arena_dup(&arena, "odd", 3 - bytes % 2));
    }
    ml_arena_release(&arena);
    ml_arena_release(&arena);
}

/* The last bytes of a chunk, where alignment eats into what is left. */
static void arena_stays_inside_its_chunk(void **state)
{
    (void)state;
    for (size_t filled = 4000; filled <= 4100; filled++) {
        struct ml_arena arena = {0};

        for (size_t i = 0; i < filled; i++)
            assert_non_null(ml_arena_dup(&arena, NULL, 0));
        for (int i = 0; i < 5; i++) {
            void *p = ml_arena_alloc(&arena, 24);

            assert_non_null(p);
            memset(p, 0xff, 24);
            assert_true(arena.at <= arena.end);
        }
        ml_arena_release(&arena);
    }
}

/* Large objects get chunks of their own, also as the first ones. */
static void arena_takes_any_size(void **state)
{
    static const size_t sizes[] = {5000000, 10, 1025, 4096, 1, 0, 1 << 20, 262144, 262145};
    struct ml_arena arena;

    (void)state;
    ml_arena_init(&arena);
    for (int round = 0; round < 20; round++) {
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
            uint8_t *p = ml_arena_alloc(&arena, sizes[i]);

            assert_non_null(p);
            memset(p, round, sizes[i]);
        }
    }
    assert_null(ml_arena_alloc(&arena, SIZE_MAX));
    assert_null(ml_arena_alloc(&arena, SIZE_MAX - 8));
    assert_null(ml_arena_dup(&arena, "", SIZE_MAX));
    ml_arena_release(&arena);
}

static void arena_dup_terminates(void **state)
{
    struct ml_arena arena = {0};

    (void)state;
    assert_string_equal(ml_arena_dup(&arena, NULL, 0), "");
    assert_string_equal(ml_arena_dup(&arena, "hello", 4), "hell");
    ml_arena_release(&arena);
}

static void empty_table_answers(void **state)
{
    struct ml_intern intern;

    (void)state;
    ml_intern_init(&intern);
    assert_int_equal(ml_intern_len(&intern), 0);
    assert_int_equal(ml_intern_find(&intern, "a", 1), -ENOENT);
    assert_int_equal(ml_intern_find(&intern, NULL, 0), -ENOENT);
    assert_null(ml_intern_get(&intern, 0, NULL));
    ml_intern_release(&intern);
    ml_intern_release(&intern);
}

static void numbers_come_in_order(void **state)
{
    struct ml_intern intern = {0};
    bool is_new = false;

    (void)state;
    assert_int_equal(ml_intern_put(&intern, "main", 4, &is_new), 0);
    assert_true(is_new);
    assert_int_equal(ml_intern_put(&intern, "", 0, &is_new), 1);
    assert_true(is_new);
    assert_int_equal(ml_intern_put(&intern, "main", 4, &is_new), 0);
    assert_false(is_new);
    assert_int_equal(ml_intern_put(&intern, NULL, 0, &is_new), 1);
    assert_false(is_new);
    assert_int_equal(ml_intern_put(&intern, "main", 3, NULL), 2);
    assert_int_equal(ml_intern_len(&intern), 3);
    assert_null(ml_intern_get(&intern, 3, NULL));
    assert_null(ml_intern_get(&intern, UINT32_MAX, NULL));
    ml_intern_release(&intern);
}

static void bytes_may_be_anything(void **state)
{
    struct ml_intern intern = {0};
    size_t len = 0;

    (void)state;
    assert_int_equal(ml_intern_put(&intern, "a\0b", 3, NULL), 0);
    assert_int_equal(ml_intern_put(&intern, "a\0c", 3, NULL), 1);
    assert_int_equal(ml_intern_put(&intern, "a", 1, NULL), 2);
    assert_int_equal(ml_intern_put(&intern, "a\0", 2, NULL), 3);
    assert_int_equal(ml_intern_find(&intern, "a\0c", 3), 1);
    assert_memory_equal(ml_intern_get(&intern, 1, &len), "a\0c", 4);
    assert_int_equal(len, 3);
    ml_intern_release(&intern);
}

static void many_strings_stay_where_they_are(void **state)
{
    enum { COUNT = 100000 };
    struct ml_intern intern = {0};
    const char *first;
    char name[32];

    (void)state;
    assert_int_equal(ml_intern_put(&intern, "scope-0", 7, NULL), 0);
    first = ml_intern_get(&intern, 0, NULL);
    for (int i = 0; i < COUNT; i++) {
        int len = snprintf(name, sizeof(name), "scope-%d", i);

        assert_int_equal(ml_intern_put(&intern, name, (size_t)len, NULL), i);
    }
    assert_ptr_equal(ml_intern_get(&intern, 0, NULL), first);
    for (int i = 0; i < COUNT; i++) {
        int len = snprintf(name, sizeof(name), "scope-%d", i);

        assert_int_equal(ml_intern_find(&intern, name, (size_t)len), i);
        assert_string_equal(ml_intern_get(&intern, (uint32_t)i, NULL), name);
    }
    assert_int_equal(ml_intern_len(&intern), COUNT);
    ml_intern_release(&intern);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arena_aligns),          cmocka_unit_test(arena_stays_inside_its_chunk),
        cmocka_unit_test(arena_takes_any_size),  cmocka_unit_test(arena_dup_terminates),
        cmocka_unit_test(empty_table_answers),   cmocka_unit_test(numbers_come_in_order),
        cmocka_unit_test(bytes_may_be_anything), cmocka_unit_test(many_strings_stay_where_they_are),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
