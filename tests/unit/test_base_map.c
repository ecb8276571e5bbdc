/* test_base_map.c: base/map.h against a model too simple to be wrong.
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

#include "map.h"

static void empty_map_answers(void **state)
{
    struct ml_map map;
    size_t cursor = 0;
    uint64_t v = 7;

    (void)state;
    ml_map_init(&map);
    assert_int_equal(ml_map_len(&map), 0);
    assert_false(ml_map_get(&map, 0, &v));
    assert_false(ml_map_get(&map, 1, &v));
    assert_false(ml_map_take(&map, 0, &v));
    assert_false(ml_map_take(&map, 1, &v));
    assert_false(ml_map_next(&map, &cursor, NULL, NULL));
    assert_false(ml_map_next(&map, &cursor, NULL, NULL));
    assert_int_equal(v, 7);
    ml_map_clear(&map);
    ml_map_release(&map);
    ml_map_release(&map);
}

static void extreme_keys_are_keys(void **state)
{
    static const uint64_t keys[] = {0, 1, UINT64_MAX, UINT64_MAX - 1, UINT64_C(1) << 63};
    struct ml_map map = {0};
    uint64_t v;

    (void)state;
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(ml_map_put(&map, keys[i], ~keys[i]), 0);
    assert_int_equal(ml_map_len(&map), 5);
    for (size_t i = 0; i < 5; i++) {
        assert_true(ml_map_get(&map, keys[i], &v));
        assert_true(v == ~keys[i]);
        assert_true(ml_map_get(&map, keys[i], NULL));
        assert_true(ml_map_take(&map, keys[i], i % 2 ? NULL : &v));
        assert_false(ml_map_get(&map, keys[i], &v));
    }
    assert_int_equal(ml_map_len(&map), 0);
    ml_map_release(&map);
}

static void put_replaces(void **state)
{
    struct ml_map map = {0};
    uint64_t v;

    (void)state;
    for (uint64_t round = 0; round < 3; round++)
        for (uint64_t key = 0; key < 100; key++)
            assert_int_equal(ml_map_put(&map, key, key + round), 0);
    assert_int_equal(ml_map_len(&map), 100);
    assert_true(ml_map_get(&map, 0, &v));
    assert_int_equal(v, 2);
    assert_true(ml_map_get(&map, 99, &v));
    assert_int_equal(v, 101);
    ml_map_release(&map);
}

/* One entry coming and going must not make the table grow or decay. */
static void churn_keeps_the_capacity(void **state)
{
    struct ml_map map = {0};
    size_t mask;

    (void)state;
    assert_int_equal(ml_map_put(&map, 1, 1), 0);
    mask = map.mask;
    for (uint64_t key = 1; key < 100000; key++) {
        assert_int_equal(ml_map_put(&map, key + 1, key), 0);
        assert_true(ml_map_take(&map, key, NULL));
    }
    assert_int_equal(map.mask, mask);
    assert_int_equal(ml_map_len(&map), 1);
    ml_map_release(&map);
}

static void clear_keeps_nothing_but_memory(void **state)
{
    struct ml_map map = {0};
    size_t cursor = 0;

    (void)state;
    for (uint64_t key = 0; key < 1000; key++)
        assert_int_equal(ml_map_put(&map, key, key), 0);
    ml_map_clear(&map);
    assert_int_equal(ml_map_len(&map), 0);
    assert_false(ml_map_next(&map, &cursor, NULL, NULL));
    for (uint64_t key = 0; key < 1000; key++)
        assert_false(ml_map_get(&map, key, NULL));
    assert_int_equal(ml_map_put(&map, 5, 6), 0);
    assert_int_equal(ml_map_len(&map), 1);
    ml_map_release(&map);
}

/* The model: a flag and a value for each of the few keys that the test uses. */
#define KEYS 4096

struct model {
    bool present[KEYS];
    uint64_t value[KEYS];
    size_t len;
};

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* Like addresses, like counters, or all over the place; 0 is always one. */
static uint64_t key_at(unsigned pattern, uint64_t i)
{
    switch (pattern) {
    case 0: return i;
    case 1: return i * 16;
    case 2: return i << 52;
    case 3: return i * UINT64_C(0xd6e8feb86659fd93);
    default: return i == 0 ? 0 : UINT64_C(0x7f0000000000) + i * 4096;
    }
}

static void check_all(const struct ml_map *map, const struct model *model, unsigned pattern)
{
    uint64_t key, value, sum_seen = 0, sum = 0;
    size_t cursor = 0, seen = 0;

    assert_int_equal(ml_map_len(map), model->len);
    for (uint64_t i = 0; i < KEYS; i++) {
        bool present = ml_map_get(map, key_at(pattern, i), &value);

        assert_true(present == model->present[i]);
        assert_true(!present || value == model->value[i]);
        sum += present ? key_at(pattern, i) ^ value : 0;
    }
    while (ml_map_next(map, &cursor, &key, &value)) {
        sum_seen += key ^ value;
        seen++;
    }
    assert_int_equal(seen, model->len);
    assert_true(sum_seen == sum);
}

static void put_both(struct ml_map *map, struct model *model, uint64_t key, uint64_t i, uint64_t v)
{
    assert_int_equal(ml_map_put(map, key, v), 0);
    model->len += !model->present[i];
    model->present[i] = true;
    model->value[i] = v;
}

static void take_both(struct ml_map *map, struct model *model, uint64_t key, uint64_t i)
{
    uint64_t value = 0;
    bool present = ml_map_take(map, key, &value);

    assert_true(present == model->present[i]);
    assert_true(!present || value == model->value[i]);
    model->len -= present;
    model->present[i] = false;
}

/* Waves of mostly puts and mostly takes fill and drain the table. */
static void random_operations(unsigned pattern, unsigned count)
{
    struct model *model = calloc(1, sizeof(*model));
    struct ml_map map = {0};
    uint64_t seed = UINT64_C(88172645463325252) + pattern;

    assert_non_null(model);
    for (unsigned op = 0; op < count; op++) {
        uint64_t i = next_random(&seed) % KEYS;
        unsigned puts = op / 10000 % 2 ? 25 : 75;

        if (next_random(&seed) % 100 < puts)
            put_both(&map, model, key_at(pattern, i), i, seed);
        else
            take_both(&map, model, key_at(pattern, i), i);
        if (op % 5000 == 0)
            check_all(&map, model, pattern);
    }
    check_all(&map, model, pattern);
    ml_map_release(&map);
    free(model);
}

static void behaves_like_the_model(void **state)
{
    (void)state;
    for (unsigned pattern = 0; pattern < 5; pattern++)
        random_operations(pattern, 200000);
}

/* Runs that wrap around the end of the table are where moving back goes wrong:
 * the smallest table, nearly full, all its slots in few runs. */
static void small_tables_wrap(void **state)
{
    (void)state;
    for (uint64_t start = 1; start < 2000; start++) {
        struct ml_map map = {0};

        for (uint64_t key = start; key < start + 10; key++)
            assert_int_equal(ml_map_put(&map, key * start, key), 0);
        for (uint64_t gone = start; gone < start + 10; gone++) {
            assert_true(ml_map_take(&map, gone * start, NULL));
            for (uint64_t key = gone + 1; key < start + 10; key++)
                assert_true(ml_map_get(&map, key * start, NULL));
        }
        ml_map_release(&map);
    }
}

static size_t longest_run(const struct ml_map *map)
{
    size_t longest = 0, run = 0;

    for (size_t i = 0; i <= map->mask; i++) {
        run = map->slots[i].key != 0 ? run + 1 : 0;
        if (run > longest)
            longest = run;
    }
    return longest;
}

/* Blocks of equal size side by side must not end up in slots side by side. */
static void no_stride_clusters(void **state)
{
    (void)state;
    for (uint64_t stride = 16; stride < 4096; stride += 16) {
        struct ml_map map = {0};

        for (uint64_t i = 0; i < 40000; i++)
            assert_int_equal(ml_map_put(&map, UINT64_C(0x7f1234560010) + i * stride, i), 0);
        assert_true(longest_run(&map) < 400);
        ml_map_release(&map);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_map_answers),
        cmocka_unit_test(extreme_keys_are_keys),
        cmocka_unit_test(put_replaces),
        cmocka_unit_test(churn_keeps_the_capacity),
        cmocka_unit_test(clear_keeps_nothing_but_memory),
        cmocka_unit_test(behaves_like_the_model),
        cmocka_unit_test(small_tables_wrap),
        cmocka_unit_test(no_stride_clusters),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
