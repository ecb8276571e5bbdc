/* test_works.c: work that is handed over is taken in the same order, and work that is never
 * taken does not fill memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "works.h"

static struct ml_works works;

static int teardown(void **state)
{
    (void)state;
    ml_works_release(&works);
    return 0;
}

static void hand(uint64_t key, uint32_t scope)
{
    ml_works_put(&works, key, (struct ml_work){.scope = scope});
}

/* The scope, 0: there was no work. */
static uint32_t take(uint64_t key)
{
    struct ml_work work = {0};

    return ml_works_take(&works, key, &work) ? work.scope : 0;
}

static void work_is_taken_once(void **state)
{
    (void)state;
    hand(1, 5);
    hand(2, 6);
    assert_int_equal(take(2), 6);
    assert_int_equal(take(1), 5);
    assert_int_equal(take(1), 0);
    hand(1, 7);
    assert_int_equal(take(1), 7);
    assert_int_equal(works.places.len, 2);
}

static void order_is_kept_under_a_key(void **state)
{
    (void)state;
    for (uint32_t i = 1; i <= 100; i++)
        hand(i % 2, i);
    for (uint32_t i = 2; i <= 100; i += 2)
        assert_int_equal(take(0), i);
    for (uint32_t i = 1; i <= 100; i += 2)
        assert_int_equal(take(1), i);
}

static void moved_work_takes_the_place_of_older(void **state)
{
    (void)state;
    hand(1, 5);
    hand(1, 6);
    hand(2, 7);
    ml_works_move(&works, 1, 2);
    hand(1, 8);
    assert_int_equal(take(2), 5);
    assert_int_equal(take(2), 6);
    assert_int_equal(take(2), 0);
    assert_int_equal(take(1), 8);
    ml_works_move(&works, 3, 4);
    assert_int_equal(take(4), 0);
}

static void what_nobody_takes_is_forgotten(void **state)
{
    (void)state;
    for (uint64_t key = 0; key < 3 * ML_WORKS_MAX; key++)
        hand(key, 5);
    assert_true(works.places.len <= ML_WORKS_MAX);
    assert_int_equal(take(3 * ML_WORKS_MAX - 1), 5);
    assert_int_equal(take(0), 0);
    assert_int_equal(works.dropped, 2 * ML_WORKS_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(work_is_taken_once, teardown),
        cmocka_unit_test_teardown(order_is_kept_under_a_key, teardown),
        cmocka_unit_test_teardown(moved_work_takes_the_place_of_older, teardown),
        cmocka_unit_test_teardown(what_nobody_takes_is_forgotten, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
