/* test_tape.c: the scope in which a tape's number was created, and that neither endless threads
 * nor a hostile target fill memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tape.h"

static struct ml_tapes tapes;

static int teardown(void **state)
{
    (void)state;
    ml_tapes_release(&tapes);
    tapes = (struct ml_tapes){0};
    return 0;
}

static void numbers_are_found(void **state)
{
    (void)state;
    ml_tapes_add(&tapes, 1, 10, 20, 5);
    ml_tapes_add(&tapes, 1, 25, 30, 6);
    ml_tapes_add(&tapes, 2, 0, 100, 7);
    ml_tapes_add(&tapes, 3, UINT64_MAX - 1, UINT64_MAX, 8);
    assert_int_equal(ml_tapes_find(&tapes, 1, 9), 0);
    assert_int_equal(ml_tapes_find(&tapes, 1, 10), 5);
    assert_int_equal(ml_tapes_find(&tapes, 1, 19), 5);
    assert_int_equal(ml_tapes_find(&tapes, 1, 20), 0);
    assert_int_equal(ml_tapes_find(&tapes, 1, 25), 6);
    assert_int_equal(ml_tapes_find(&tapes, 1, 30), 0);
    assert_int_equal(ml_tapes_find(&tapes, 2, 0), 7);
    assert_int_equal(ml_tapes_find(&tapes, 3, UINT64_MAX), 0);
    assert_int_equal(ml_tapes_find(&tapes, 3, UINT64_MAX - 1), 8);
    assert_int_equal(ml_tapes_find(&tapes, 4, 10), 0);
}

static void what_goes_on_in_one_scope_is_one_interval(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 1000; i++)
        ml_tapes_add(&tapes, 1, i, i + 1, 5);
    assert_int_equal(tapes.items.items[0].intervals.len, 1);
    assert_int_equal(ml_tapes_find(&tapes, 1, 999), 5);
}

static void empty_and_backward_intervals_are_nothing(void **state)
{
    (void)state;
    ml_tapes_add(&tapes, 1, 10, 10, 5);
    ml_tapes_add(&tapes, 1, 20, 10, 5);
    assert_int_equal(tapes.items.len, 0);
}

static void a_tape_that_goes_back_begins_anew(void **state)
{
    (void)state;
    ml_tapes_add(&tapes, 1, 10, 20, 5);
    ml_tapes_add(&tapes, 1, 20, 30, 6);
    ml_tapes_add(&tapes, 1, 30, 40, 7);
    ml_tapes_add(&tapes, 1, 15, 25, 8);
    assert_int_equal(ml_tapes_find(&tapes, 1, 14), 5);
    assert_int_equal(ml_tapes_find(&tapes, 1, 15), 8);
    assert_int_equal(ml_tapes_find(&tapes, 1, 24), 8);
    assert_int_equal(ml_tapes_find(&tapes, 1, 25), 0);
    assert_int_equal(ml_tapes_find(&tapes, 1, 35), 0);
}

static void the_oldest_numbers_go_first(void **state)
{
    const uint64_t n = ML_TAPE_INTERVALS_MAX + 10;

    (void)state;
    for (uint64_t i = 0; i < n; i++)
        ml_tapes_add(&tapes, 1, i, i + 1, 1 + i % 2);
    assert_true(tapes.items.items[0].intervals.len <= ML_TAPE_INTERVALS_MAX);
    assert_int_equal(ml_tapes_find(&tapes, 1, 0), 0);
    for (uint64_t i = n - ML_TAPE_INTERVALS_MAX / 2; i < n; i++)
        assert_int_equal(ml_tapes_find(&tapes, 1, i), 1 + i % 2);
}

static void the_tape_unused_for_longest_goes_first(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < ML_TAPES_MAX; i++)
        ml_tapes_add(&tapes, i, 1, 2, 5);
    ml_tapes_find(&tapes, 0, 1);
    for (uint64_t i = 0; i < 10; i++)
        ml_tapes_add(&tapes, 1000000 + i, 1, 2, 6);
    assert_int_equal(tapes.items.len, ML_TAPES_MAX);
    assert_int_equal(ml_tapes_find(&tapes, 0, 1), 5);
    for (uint64_t i = 1; i <= 10; i++)
        assert_int_equal(ml_tapes_find(&tapes, i, 1), 0);
    for (uint64_t i = 11; i < ML_TAPES_MAX; i++)
        assert_int_equal(ml_tapes_find(&tapes, i, 1), 5);
    for (uint64_t i = 0; i < 10; i++)
        assert_int_equal(ml_tapes_find(&tapes, 1000000 + i, 1), 6);
}

/* Also where each tape is told to go back to its beginning when it has grown. */
static void all_tapes_together_are_bounded(void **state)
{
    (void)state;
    for (uint64_t tape = 0; tape < 8; tape++) {
        for (uint64_t i = 0; i < ML_TAPE_INTERVALS_MAX; i++)
            ml_tapes_add(&tapes, tape, i, i + 1, 1 + i % 2);
        ml_tapes_add(&tapes, tape, 0, 1, 5);
        assert_true(tapes.room <= ML_TAPES_INTERVALS_MAX);
    }
    assert_int_equal(ml_tapes_find(&tapes, 7, 0), 5);
    assert_int_equal(ml_tapes_find(&tapes, 0, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(numbers_are_found, teardown),
        cmocka_unit_test_teardown(what_goes_on_in_one_scope_is_one_interval, teardown),
        cmocka_unit_test_teardown(empty_and_backward_intervals_are_nothing, teardown),
        cmocka_unit_test_teardown(a_tape_that_goes_back_begins_anew, teardown),
        cmocka_unit_test_teardown(the_oldest_numbers_go_first, teardown),
        cmocka_unit_test_teardown(the_tape_unused_for_longest_goes_first, teardown),
        cmocka_unit_test_teardown(all_tapes_together_are_bounded, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
