/* test_base_json.c: what base/json.h writes, and what it rejects.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler.h"
#include "json.h"

/* Finish, compare, and be ready for the next document. */
static void check(struct ml_json *json, const char *expected)
{
    struct ml_buf *out = json->out;

    assert_int_equal(ml_json_finish(json), 0);
    assert_string_equal((char *)out->data, expected);
    ml_buf_clear(out);
    ml_json_init(json, out, json->pretty);
}

static void check_refused(struct ml_json *json, int error)
{
    struct ml_buf *out = json->out;

    ml_json_null(json); /* does nothing any more */
    ml_json_end_object(json);
    assert_int_equal(ml_json_finish(json), error);
    ml_buf_clear(out);
    ml_json_init(json, out, json->pretty);
}

static void write_sample(struct ml_json *json)
{
    ml_json_begin_object(json);
    ml_json_kv_u64(json, "u", UINT64_MAX);
    ml_json_kv_i64(json, "i", INT64_MIN);
    ml_json_kv_bool(json, "t", true);
    ml_json_kv_bool(json, "f", false);
    ml_json_kv_null(json, "n");
    ml_json_kv_cstr(json, "s", "text");
    ml_json_kv_cstr(json, "none", NULL);
    ml_json_kv_string(json, "b", "a\0b", 3);
    ml_json_kv_double(json, "d", 0.5);
    ml_json_key(json, "empty");
    ml_json_begin_object(json);
    ml_json_end_object(json);
    ml_json_key(json, "list");
    ml_json_begin_array(json);
    ml_json_u64(json, 1);
    ml_json_begin_array(json);
    ml_json_end_array(json);
    ml_json_begin_object(json);
    ml_json_kv_u64(json, "x", 2);
    ml_json_end_object(json);
    ml_json_end_array(json);
    ml_json_end_object(json);
}

static void compact_has_no_spaces(void **state)
{
    struct ml_buf out = {0};
    struct ml_json json;

    (void)state;
    ml_json_init(&json, &out, false);
    write_sample(&json);
    check(&json, "{\"u\":18446744073709551615,\"i\":-9223372036854775808,\"t\":true,\"f\":false,"
                 "\"n\":null,\"s\":\"text\",\"none\":null,\"b\":\"a\\u0000b\",\"d\":0.5,"
                 "\"empty\":{},\"list\":[1,[],{\"x\":2}]}");
    ml_buf_release(&out);
}

static void pretty_has_lines(void **state)
{
    struct ml_buf out = {0};
    struct ml_json json;

    (void)state;
    ml_json_init(&json, &out, true);
    write_sample(&json);
    check(&json, "{\n"
                 "  \"u\": 18446744073709551615,\n"
                 "  \"i\": -9223372036854775808,\n"
                 "  \"t\": true,\n"
                 "  \"f\": false,\n"
                 "  \"n\": null,\n"
                 "  \"s\": \"text\",\n"
                 "  \"none\": null,\n"
                 "  \"b\": \"a\\u0000b\",\n"
                 "  \"d\": 0.5,\n"
                 "  \"empty\": {},\n"
                 "  \"list\": [\n"
                 "    1,\n"
                 "    [],\n"
                 "    {\n"
                 "      \"x\": 2\n"
                 "    }\n"
                 "  ]\n"
                 "}\n");
    ml_buf_release(&out);
}

static void any_value_may_stand_alone(void **state)
{
    struct ml_buf out = {0};
    struct ml_json json;

    (void)state;
    ml_json_init(&json, &out, false);
    ml_json_u64(&json, 7);
    check(&json, "7");
    ml_json_begin_array(&json);
    ml_json_end_array(&json);
    check(&json, "[]");
    ml_json_cstr(&json, "");
    check(&json, "\"\"");
    ml_buf_release(&out);
}

static void strings_are_escaped(void **state)
{
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"\"\\/", "\"\\\"\\\\/\""},
        {"\b\f\n\r\t", "\"\\b\\f\\n\\r\\t\""},
        {"\x01\x1f\x7f", "\"\\u0001\\u001f\\u007f\""},
        {"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80",
         "\"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\""},
        /* Each byte that is not UTF-8 becomes U+FFFD. */
        {"\xff", "\"\xef\xbf\xbd\""},
        {"a\x80z", "\"a\xef\xbf\xbdz\""},
        {"\xc0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
        {"cut \xe2\x82", "\"cut \xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xe2\x82(", "\"\xef\xbf\xbd\xef\xbf\xbd(\""},
    };
    struct ml_buf out = {0};
    struct ml_json json;

    (void)state;
    ml_json_init(&json, &out, false);
    for (size_t i = 0; i < ML_ARRAY_SIZE(cases); i++) {
        ml_json_cstr(&json, cases[i].in);
        check(&json, cases[i].out);
    }
    ml_json_begin_object(&json);
    ml_json_kv_null(&json, "k\"\xff\n");
    ml_json_end_object(&json);
    check(&json, "{\"k\\\"\xef\xbf\xbd\\n\":null}");
    ml_buf_release(&out);
}

static void doubles_read_back(void **state)
{
    static const double values[] = {0.1, 1.0 / 3, 1e300, DBL_MIN, DBL_MAX, 5e-324, -2.5e-7, 123456};
    struct ml_buf out = {0};
    struct ml_json json;

    (void)state;
    for (size_t i = 0; i < ML_ARRAY_SIZE(values); i++) {
        ml_buf_clear(&out);
        ml_json_init(&json, &out, false);
        ml_json_double(&json, values[i]);
        assert_int_equal(ml_json_finish(&json), 0);
        assert_true(strtod((char *)out.data, NULL) == values[i]);
    }
    ml_buf_clear(&out);
    ml_json_init(&json, &out, false);
    ml_json_begin_array(&json);
    ml_json_double(&json, 0.1);
    ml_json_double(&json, 100);
    ml_json_double(&json, NAN);
    ml_json_double(&json, -INFINITY);
    ml_json_end_array(&json);
    check(&json, "[0.1,100,null,null]");
    ml_buf_release(&out);
}

/* Where the machine has a locale with a decimal comma, it must not show. */
static void doubles_ignore_the_locale(void **state)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "ps_AF.UTF-8"};
    struct ml_buf out = {0};
    struct ml_json json;

    (void)state;
    ml_json_init(&json, &out, false);
    for (size_t i = 0; i < ML_ARRAY_SIZE(names); i++) {
        if (!setlocale(LC_NUMERIC, names[i]))
            continue;
        ml_json_double(&json, 1234.5);
        check(&json, "1234.5");
        ml_json_double(&json, -1.25e-300);
        check(&json, "-1.25e-300");
    }
    setlocale(LC_NUMERIC, "C");
    ml_buf_release(&out);
}

static void misuse_is_refused(void **state)
{
    struct ml_buf out = {0};
    struct ml_json json;

    (void)state;
    ml_json_init(&json, &out, false);
    check_refused(&json, -EINVAL); /* two values, or none with an end */
    ml_json_begin_object(&json);
    ml_json_u64(&json, 1); /* no key */
    check_refused(&json, -EINVAL);
    ml_json_begin_array(&json);
    ml_json_key(&json, "k"); /* not in an object */
    check_refused(&json, -EINVAL);
    ml_json_key(&json, "k"); /* at the top */
    check_refused(&json, -EINVAL);
    ml_json_begin_object(&json);
    ml_json_key(&json, "k");
    ml_json_key(&json, "k"); /* twice */
    check_refused(&json, -EINVAL);
    ml_json_begin_object(&json);
    ml_json_end_array(&json); /* the wrong end */
    check_refused(&json, -EINVAL);
    ml_json_begin_object(&json);
    ml_json_key(&json, "k");
    ml_json_end_object(&json); /* a key without a value */
    check_refused(&json, -EINVAL);
    ml_json_end_array(&json); /* no begin */
    check_refused(&json, -EINVAL);
    ml_buf_release(&out);
}

static void unfinished_is_refused(void **state)
{
    struct ml_buf out = {0};
    struct ml_json json;

    (void)state;
    ml_json_init(&json, &out, false);
    assert_int_equal(ml_json_finish(&json), -EINVAL);
    ml_json_init(&json, &out, false);
    ml_json_begin_array(&json);
    assert_int_equal(ml_json_finish(&json), -EINVAL);
    ml_json_init(&json, &out, false);
    ml_json_u64(&json, 1);
    ml_json_u64(&json, 2);
    assert_int_equal(ml_json_finish(&json), -EINVAL);
    ml_buf_release(&out);
}

static void nesting_has_a_limit(void **state)
{
    struct ml_buf out = {0};
    struct ml_json json;

    (void)state;
    ml_json_init(&json, &out, false);
    for (int i = 0; i < ML_JSON_DEPTH_MAX / 2; i++) {
        ml_json_begin_array(&json);
        ml_json_begin_object(&json);
        ml_json_key(&json, "k");
    }
    ml_json_null(&json);
    for (int i = 0; i < ML_JSON_DEPTH_MAX / 2; i++) {
        ml_json_end_object(&json);
        ml_json_end_array(&json);
    }
    assert_int_equal(ml_json_finish(&json), 0);
    ml_json_init(&json, &out, false);
    for (int i = 0; i < ML_JSON_DEPTH_MAX + 1; i++)
        ml_json_begin_array(&json);
    check_refused(&json, -EOVERFLOW);
    ml_buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compact_has_no_spaces),     cmocka_unit_test(pretty_has_lines),
        cmocka_unit_test(any_value_may_stand_alone), cmocka_unit_test(strings_are_escaped),
        cmocka_unit_test(doubles_read_back),         cmocka_unit_test(doubles_ignore_the_locale),
        cmocka_unit_test(misuse_is_refused),         cmocka_unit_test(unfinished_is_refused),
        cmocka_unit_test(nesting_has_a_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
