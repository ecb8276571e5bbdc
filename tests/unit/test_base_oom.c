/* test_base_oom.c: base when memory runs out: fail the Nth allocation, for every N.
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
#include <stdlib.h>
#include <string.h>

#include "fail_nth.h"
#include "intern.h"
#include "json.h"
#include "map.h"
#include "table.h"
#include "vec.h"

/* Run `work` with the 1st, the 2nd, ... allocation failing, until it runs
 * through. It must report every failure; a leak is for the sanitizer to see. */
static void fail_each(int (*work)(void))
{
    for (long n = 0;; n++) {
        bool failed;
        int r;

        fail_nth(n);
        r = work();
        failed = fail_end();
        assert_int_equal(r, failed ? -ENOMEM : 0);
        if (!failed) {
            assert_true(n > 0);
            return;
        }
    }
}

/* After the failure the map holds what it held, and goes on working. */
static int use_map(void)
{
    struct ml_map map = {0};
    uint64_t key, v, kept;
    int r = 0;

    for (key = 0; key < 5000 && r == 0; key++)
        r = ml_map_put(&map, key * 8, key);
    kept = r < 0 ? key - 1 : key;
    assert_int_equal(ml_map_len(&map), kept);
    for (key = 0; key < kept; key++)
        assert_true(ml_map_get(&map, key * 8, &v) && v == key);
    if (r < 0) {
        assert_false(ml_map_get(&map, kept * 8, NULL));
        assert_int_equal(ml_map_put(&map, kept * 8, kept), 0);
        assert_int_equal(ml_map_len(&map), kept + 1);
    }
    ml_map_release(&map);
    return r;
}

static void map_survives(void **state)
{
    (void)state;
    fail_each(use_map);
}

/* A full table still replaces values without memory. */
static void full_map_replaces(void **state)
{
    struct ml_map map = {0};

    (void)state;
    for (uint64_t key = 1; map.used < map.limit || key == 1; key++)
        assert_int_equal(ml_map_put(&map, key, key), 0);
    fail_nth(0);
    assert_int_equal(ml_map_put(&map, 1, 2), 0);
    assert_int_equal(ml_map_put(&map, 0, 2), 0);
    assert_int_equal(ml_map_put(&map, 1000, 2), -ENOMEM);
    fail_end();
    ml_map_release(&map);
}

static int use_intern(void)
{
    struct ml_intern intern = {0};
    int64_t id = 0;
    char name[32];
    int i;

    for (i = 0; i < 3000 && id >= 0; i++) {
        bool is_new = false;

        snprintf(name, sizeof(name), "some name %d", i);
        id = ml_intern_put(&intern, name, strlen(name), &is_new);
        assert_true(id < 0 || (id == i && is_new));
    }
    if (id < 0) {
        /* The number that was not given is given next. */
        assert_int_equal(ml_intern_len(&intern), i - 1);
        assert_int_equal(ml_intern_find(&intern, name, strlen(name)), -ENOENT);
        assert_int_equal(ml_intern_put(&intern, name, strlen(name), NULL), i - 1);
        assert_string_equal(ml_intern_get(&intern, (uint32_t)i - 1, NULL), name);
    }
    ml_intern_release(&intern);
    return id < 0 ? (int)id : 0;
}

static void intern_survives(void **state)
{
    (void)state;
    fail_each(use_intern);
}

static int use_buf(void)
{
    struct ml_buf buf = {0};
    size_t len = 0;
    int r = 0;

    for (int i = 0; i < 2000 && r == 0; i++) {
        len = buf.len;
        r = i % 2 ? ml_buf_append(&buf, "some bytes", 10) : ml_buf_printf(&buf, "%d, ", i);
    }
    if (r < 0) {
        assert_int_equal(buf.len, len);
        assert_true(!buf.data || buf.data[len] == '\0');
    }
    ml_buf_release(&buf);
    return r;
}

static void buf_survives(void **state)
{
    (void)state;
    fail_each(use_buf);
}

static int use_vec(void)
{
    ML_VEC(int) v = {0};
    int r = 0;

    for (int i = 0; i < 1000 && r == 0; i++)
        r = ml_vec_push(&v, i);
    for (size_t i = 0; i < v.len; i++)
        assert_int_equal(v.items[i], i);
    ml_vec_release(&v);
    return r;
}

static void vec_survives(void **state)
{
    (void)state;
    fail_each(use_vec);
}

/* The results of the single calls are ignored on purpose: the last one tells. */
static int use_table(void)
{
    struct ml_buf out = {0};
    struct ml_table table;
    int r;

    ml_table_init(&table);
    ml_table_column(&table, "a", ML_LEFT);
    ml_table_column(&table, "b", ML_RIGHT);
    for (int i = 0; i < 500; i++) {
        ml_table_cellf(&table, "name %d", i);
        ml_table_cell(&table, "x");
    }
    r = ml_table_print(&table, &out, 10);
    ml_table_release(&table);
    ml_buf_release(&out);
    return r;
}

static void table_survives(void **state)
{
    (void)state;
    fail_each(use_table);
}

static int use_json(void)
{
    struct ml_buf out = {0};
    struct ml_json json;
    int r;

    ml_json_init(&json, &out, true);
    ml_json_begin_array(&json);
    for (int i = 0; i < 500; i++) {
        ml_json_begin_object(&json);
        ml_json_kv_cstr(&json, "name", "a\n\xff");
        ml_json_kv_double(&json, "value", i / 8.0);
        ml_json_end_object(&json);
    }
    ml_json_end_array(&json);
    r = ml_json_finish(&json);
    ml_buf_release(&out);
    return r;
}

static void json_survives(void **state)
{
    (void)state;
    fail_each(use_json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(map_survives),    cmocka_unit_test(full_map_replaces),
        cmocka_unit_test(intern_survives), cmocka_unit_test(buf_survives),
        cmocka_unit_test(vec_survives),    cmocka_unit_test(table_survives),
        cmocka_unit_test(json_survives),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
