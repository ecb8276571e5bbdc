/* test_json_reader.c: JSON as it should be, as MXNet writes it, and what is neither.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "json_reader.h"

/* All tokens, each a letter, with the text of those that have one: "{k=a n=1 }". */
static const char *tokens(const char *text, bool raw)
{
    static const char letters[] = ".{}[]ksnw";
    static struct ml_buf out;
    struct ml_import_source source;
    struct ml_json_reader json = {.source = &source, .raw = raw};
    struct ml_error err = {0};
    int token;

    ml_import_source_memory(&source, (const uint8_t *)text, strlen(text));
    ml_buf_clear(&out);
    while ((token = ml_json_next(&json, &err)) > ML_JSON_END) {
        struct ml_slice piece = ml_json_text(&json);

        assert_int_equal(ml_buf_printf(&out, "%c", letters[token]), 0);
        if (token >= ML_JSON_KEY)
            assert_int_equal(ml_buf_printf(&out, "=%.*s ", (int)piece.len, piece.text), 0);
    }
    if (token < 0)
        assert_int_equal(ml_buf_puts(&out, strchr(err.text, ' ') + 1), 0);
    else
        assert_int_equal(ml_buf_puts(&out, json.cut ? "cut" : ""), 0);
    ml_json_reader_release(&json);
    return (const char *)out.data;
}

static void test_values(void **state)
{
    (void)state;
    assert_string_equal(tokens("", false), "");
    assert_string_equal(tokens(" { \"a\" : 1 , \"b\":[true,null,-1.5e3,\"x\"] } ", false),
                        "{k=a n=1 k=b [w=true w=null n=-1.5e3 s=x ]}");
    assert_string_equal(tokens("[[],{}]", false), "[[]{}]");
    assert_string_equal(tokens("12", false), "n=12 ");
}

static void test_escapes(void **state)
{
    (void)state;
    assert_string_equal(tokens("\"\\\"\\\\\\/\\n\\t\"", false), "s=\"\\/\n\t ");
    assert_string_equal(tokens("\"\\u0041\\u00e9\\u20ac\\ud83d\\ude00\"", false),
                        "s=A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80 ");
    assert_string_equal(tokens("\"\\ud83dx\"", false), "s=\xef\xbf\xbdx ");
    assert_string_equal(tokens("\"\\ude00\"", false), "s=\xef\xbf\xbd ");
    assert_string_equal(tokens("\"\\x\"", false), "byte 3: an unknown escape in a string");
    assert_string_equal(tokens("\"\\u12g4\"", false),
                        "byte 6: \\u without four hexadecimal digits");
}

static void test_cut(void **state)
{
    (void)state;
    assert_string_equal(tokens("[1, 2", false), "[n=1 cut");
    assert_string_equal(tokens("{\"a\"", false), "{cut");
    assert_string_equal(tokens("{\"a\": \"b", false), "{k=a cut");
    assert_string_equal(tokens("{\"a\": \"b\\", false), "{k=a cut");
    assert_string_equal(tokens("[{}", false), "[{}cut");
}

static void test_not_json(void **state)
{
    (void)state;
    assert_string_equal(tokens("[}", false), "[byte 2: a '}' without its opening bracket");
    assert_string_equal(tokens("]", false), "byte 1: a ']' without its opening bracket");
    assert_string_equal(tokens("{1: 2}", false), "{byte 2: this is not JSON");
    assert_string_equal(tokens("{\"a\": }", false), "{k=a byte 7: this is not JSON");
    assert_string_equal(tokens("{\"a\" 1}", false), "{byte 6: no ':' after a name");
    assert_string_equal(tokens("<html>", false), "byte 1: this is not JSON");
}

static void test_deep(void **state)
{
    char text[2 * ML_JSON_DEPTH_MAX];

    (void)state;
    memset(text, '[', sizeof(text));
    text[ML_JSON_DEPTH_MAX] = '\0';
    assert_non_null(strstr(tokens(text, false), "[cut"));
    text[ML_JSON_DEPTH_MAX] = '[';
    text[ML_JSON_DEPTH_MAX + 1] = '\0';
    assert_non_null(strstr(tokens(text, false), "nested more than 256 deep"));
}

/* A quote ends a name only where the rest of an event follows. */
static void test_raw(void **state)
{
    (void)state;
    assert_string_equal(tokens("{\"name\": \"a \"b\", \\n\",\n\"cat\": \"c\"\n},", true),
                        "{k=name s=a \"b\", \\n k=cat s=c }");
    assert_string_equal(tokens("{\"args\": { \"x\" y\": 5 }, \"ph\": \"C\"}", true),
                        "{k=args {k=x\" y n=5 }k=ph s=C }");
    assert_string_equal(tokens("{\"name\": \"}\"}\"}, {", true), "{k=name s=}\"} }{cut");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),   cmocka_unit_test(test_escapes), cmocka_unit_test(test_cut),
        cmocka_unit_test(test_not_json), cmocka_unit_test(test_deep),    cmocka_unit_test(test_raw),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
