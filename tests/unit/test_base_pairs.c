/* test_base_pairs.c: base/pairs.h: dense numbers, both ways, for many values.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

#include "pairs.h"

#define MANY 200000u

static void empty_table_answers(void **state)
{
    struct ml_pairs pairs = {0};
    uint64_t value;

    (void)state;
    assert_int_equal(ml_pairs_find(&pairs, 0), -ENOENT);
    assert_int_equal(ml_pairs_len(&pairs), 0);
    assert_false(ml_pairs_get(&pairs, 0, &value));
    ml_pairs_release(&pairs);
    ml_pairs_release(&pairs);
}

/* Nodes as a tree has them: few parents of many parts, and many parents of few. */
static uint64_t node(uint32_t i)
{
    return i % 2 ? (uint64_t)(i / 1000) << 32 | i : (uint64_t)i << 32 | i % 7;
}

static void numbers_are_dense(void **state)
{
    struct ml_pairs pairs = {0};
    uint64_t value;

    (void)state;
    for (uint32_t i = 0; i < MANY; i++) {
        assert_int_equal(ml_pairs_find(&pairs, node(i)), -ENOENT);
        assert_int_equal(ml_pairs_add(&pairs, node(i)), i);
    }
    assert_int_equal(ml_pairs_len(&pairs), MANY);
    for (uint32_t i = 0; i < MANY; i++) {
        assert_int_equal(ml_pairs_find(&pairs, node(i)), i);
        assert_true(ml_pairs_get(&pairs, i, &value));
        assert_true(value == node(i));
    }
    assert_false(ml_pairs_get(&pairs, MANY, &value));
    ml_pairs_release(&pairs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_table_answers),
        cmocka_unit_test(numbers_are_dense),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
