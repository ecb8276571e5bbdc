/* test_pointer_table.c: a number for each of many pointers, against what was put in.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "pointer_table.h"

#define POINTERS 5000
#define ROUNDS 200000

static struct ml_pointer_table table;

static const void *at(uint64_t i)
{
    return (const void *)(uintptr_t)(0x10000 + i * 16);
}

/* Puts and takes at random, among few so that they meet. */
static void agrees_with_a_model(void **state)
{
    static uint64_t numbers[POINTERS];

    (void)state;
    srand(1);
    for (uint64_t i = 1; i < ROUNDS; i++) {
        unsigned p = (unsigned)rand() % POINTERS;
        assert_int_equal(ml_pointer_get(&table, at(p)), numbers[p]);
        if (rand() % 2) {
            assert_true(ml_pointer_put(&table, at(p), i));
            numbers[p] = i;
        } else {
            assert_int_equal(ml_pointer_take(&table, at(p)), numbers[p]);
            numbers[p] = 0;
        }
    }
    for (unsigned p = 0; p < POINTERS; p++)
        assert_int_equal(ml_pointer_take(&table, at(p)), numbers[p]);
    assert_int_equal(table.used, 0);
}

/* A program that lives long has ever other ones. */
static void what_is_gone_leaves_room(void **state)
{
    enum { LIVE = 1000 };

    (void)state;
    for (uint64_t i = 0; i < ML_POINTERS_MAX + 100000; i++) {
        assert_true(ml_pointer_put(&table, at(i), i + 1));
        if (i >= LIVE)
            assert_int_equal(ml_pointer_take(&table, at(i - LIVE)), i - LIVE + 1);
    }
    assert_true(table.used < 2 * LIVE);
}

static void more_than_there_is_room_for(void **state)
{
    static struct ml_pointer_table full;

    (void)state;
    for (uint64_t i = 0; i <= ML_POINTERS_MAX; i++)
        assert_int_equal(ml_pointer_put(&full, at(i), i + 1), i < ML_POINTERS_MAX);
    assert_true(ml_pointer_put(&full, at(0), 7)); /* has its place */
    assert_int_equal(ml_pointer_get(&full, at(ML_POINTERS_MAX - 1)), ML_POINTERS_MAX);
    assert_int_equal(ml_pointer_get(&full, at(ML_POINTERS_MAX)), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_a_model),
        cmocka_unit_test(what_is_gone_leaves_room),
        cmocka_unit_test(more_than_there_is_room_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
