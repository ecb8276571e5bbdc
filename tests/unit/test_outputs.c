/* test_outputs.c: labels of blocks that are not allocated yet, by key and by size.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "expected.h"
#include "outputs.h"

static struct ml_expected expected;
static struct ml_waiting_outputs waiting;

static int teardown(void **state)
{
    (void)state;
    ml_expected_release(&expected);
    ml_outputs_release(&waiting);
    waiting.told = 0;
    return 0;
}

/* The label, 0: none. */
static uint32_t find(uint64_t key)
{
    uint32_t category, label;

    return ml_expected_find(&expected, key, &category, &label) ? label : 0;
}

static void first_label_of_a_key_stays(void **state)
{
    (void)state;
    ml_expected_add(&expected, 1, 5, 10);
    ml_expected_add(&expected, 1, 5, 11);
    assert_int_equal(find(1), 10);
    assert_int_equal(find(1), 10);
    ml_expected_forget(&expected, 1);
    assert_int_equal(find(1), 0);
    ml_expected_add(&expected, 1, 5, 12);
    assert_int_equal(find(1), 12);
}

static void keys_are_bounded(void **state)
{
    (void)state;
    for (uint64_t key = 0; key < 2 * ML_EXPECTED_MAX + 1; key++)
        ml_expected_add(&expected, key, 5, 10);
    assert_true(ml_map_len(&expected.by_key) <= ML_EXPECTED_MAX);
    assert_int_equal(find(2 * ML_EXPECTED_MAX), 10);
    assert_int_equal(find(0), 0);
    assert_int_equal(expected.dropped, 2 * ML_EXPECTED_MAX);
}

static struct ml_output_range wait_for(uint64_t size, uint32_t label, uint32_t count)
{
    struct ml_outputs outputs = {0};

    for (uint32_t i = 0; i < count; i++)
        ml_outputs_add(&outputs, (struct ml_work_output){.size = size, .label = label + i});
    return ml_outputs_wait(&waiting, &outputs);
}

static uint32_t take(struct ml_output_range range, uint64_t size)
{
    struct ml_work_output output;

    return ml_outputs_take_waiting(&waiting, range, size, &output) ? output.label : 0;
}

static void sizes_are_taken_in_order(void **state)
{
    struct ml_output_range one = wait_for(100, 1, 2), other = wait_for(100, 5, 1);

    (void)state;
    assert_int_equal(take(one, 200), 0);
    assert_int_equal(take(one, 100), 1);
    assert_int_equal(take(other, 100), 5);
    assert_int_equal(take(one, 100), 2);
    assert_int_equal(take(one, 100), 0);
    assert_int_equal(take(one, 0), 0);
    assert_int_equal(take((struct ml_output_range){0}, 100), 0);
}

static void who_waits_too_long_gives_way(void **state)
{
    struct ml_output_range first = wait_for(100, 1, ML_OUTPUTS_OF_WORK + 1);

    (void)state;
    assert_int_equal(first.count, ML_OUTPUTS_OF_WORK);
    for (uint32_t i = 0; i < ML_OUTPUTS_MAX; i++)
        wait_for(100, 50, 1);
    assert_int_equal(waiting.ring.len, ML_OUTPUTS_MAX);
    assert_int_equal(take(first, 100), 0);
    assert_int_equal(take(wait_for(100, 60, 1), 100), 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(first_label_of_a_key_stays, teardown),
        cmocka_unit_test_teardown(keys_are_bounded, teardown),
        cmocka_unit_test_teardown(sizes_are_taken_in_order, teardown),
        cmocka_unit_test_teardown(who_waits_too_long_gives_way, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
