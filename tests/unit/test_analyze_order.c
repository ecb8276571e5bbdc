/* test_analyze_order.c: the ordered map against a plain array.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_analyze_fixture.h"

#include "order.h"

#define KEYS 3000

static void empty_has_nothing(void **state)
{
    struct ml_order order = {0};
    struct ml_order_entry entry;
    uint32_t value;

    (void)state;
    assert_false(ml_order_floor(&order, UINT64_MAX, &entry));
    assert_false(ml_order_ceil(&order, 0, &entry));
    assert_false(ml_order_take(&order, 1, &value));
    ml_order_release(&order);
}

static void put_replaces(void **state)
{
    struct ml_order order = {0};
    uint32_t value;

    (void)state;
    assert_int_equal(ml_order_put(&order, 7, 1), 0);
    assert_int_equal(ml_order_put(&order, 7, 2), 0);
    assert_int_equal(order.len, 1);
    assert_true(ml_order_take(&order, 7, &value));
    assert_int_equal(value, 2);
    assert_false(ml_order_take(&order, 7, &value));
    ml_order_release(&order);
}

/* present[k]: key 3 * k is in the map, with value k. */
static void check_neighbours(const struct ml_order *order, const bool *present, uint64_t key)
{
    struct ml_order_entry entry;
    int64_t below = (int64_t)(key / 3), above = (int64_t)((key + 2) / 3);

    while (below >= 0 && !present[below])
        below--;
    while (above < KEYS && !present[above])
        above++;
    assert_int_equal(ml_order_floor(order, key, &entry), below >= 0);
    if (below >= 0)
        assert_int_equal(entry.value, below);
    assert_int_equal(ml_order_ceil(order, key, &entry), above < KEYS);
    if (above < KEYS)
        assert_int_equal(entry.key, 3 * above);
}

static void random_changes_agree_with_an_array(void **state)
{
    static bool present[KEYS];
    struct ml_order order = {0};
    uint32_t random = 1, value;
    size_t len = 0;

    (void)state;
    memset(present, 0, sizeof(present));
    for (int i = 0; i < 40000; i++) {
        uint32_t k;

        random = random * 1664525 + 1013904223;
        k = (random >> 8) % KEYS;
        if (present[k] && (random & 1)) {
            assert_true(ml_order_take(&order, 3 * (uint64_t)k, &value));
            assert_int_equal(value, k);
            present[k] = false;
            len--;
        } else {
            assert_int_equal(ml_order_put(&order, 3 * (uint64_t)k, k), 0);
            len += !present[k];
            present[k] = true;
        }
        assert_int_equal(order.len, len);
        check_neighbours(&order, present, (random >> 4) % (3 * KEYS));
    }
    for (uint32_t k = 0; k < KEYS; k++)
        assert_int_equal(ml_order_take(&order, 3 * (uint64_t)k, &value), present[k]);
    assert_int_equal(order.len, 0);
    assert_int_equal(order.chunks.len, 0);
    ml_order_release(&order);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_has_nothing),
        cmocka_unit_test(put_replaces),
        cmocka_unit_test(random_changes_agree_with_an_array),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
