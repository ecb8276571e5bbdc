/* test_setme.c: SETME.py of MXNet's memory analysis, read as dictionaries.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "setme.h"

#define STRUCTURES                                                                                 \
    "data_struct_kw_dict = \\\n"                                                                   \
    "    {\n"                                                                                      \
    "        \"Parameters\"   : [\"in_arg\", \"arg_grad\"],\n"                                     \
    "        \"Workspace\"    : [\"workspace\"]\n"                                                 \
    "    }\n"

static const char filled_in[] =
    "#!/usr/bin/python3\n"
    "\"\"\" SETME.py\n\n    layer_kw_dict = {}\n\"\"\"\n"
    "import os\r\n"
    "layer_kw_dict = \\\n"
    "    {\n"
    "        # TODO \"Embed\": [\"embed\"]\n"
    "        \"RNN\" : ['rnn', \"a 'b' \\\"c\\\"\"], 'It\\'s':\n"
    "        (r'\\d', 'one' \"two\",),\n"
    "    }\n" STRUCTURES "memory_profile_path = os.path.join(\"a\", \"b.csv\")\n"
    "expected_sum = 4.25  # of nvidia-smi\n";

static void release(struct ml_dictionary *found, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ml_dictionary_release(&found[i]);
}

static void reads_both_dictionaries(void **state)
{
    static const char *const keywords[] = {"rnn", "a 'b' \"c\"", "\\d", "onetwo"};
    struct ml_dictionary found[ML_SETME_DICTIONARIES];
    struct ml_error err = {0};
    size_t count;

    (void)state;
    assert_true(ml_setme_recognise(filled_in));
    assert_int_equal(0, ml_setme_parse("SETME.py", filled_in, found, &count, &err));
    assert_int_equal(2, count);
    assert_string_equal("Layer", found[0].name);
    assert_string_equal("Data Structure", found[1].name);
    assert_int_equal(ML_MATCH_ALL, found[0].match);
    assert_int_equal(2, found[0].categories.len);
    assert_string_equal("It's", found[0].categories.items[1]);
    assert_int_equal(4, found[0].keywords.len);
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(keywords[i], found[0].keywords.items[i].text);
        assert_int_equal(i / 2, found[0].keywords.items[i].category);
    }
    assert_int_equal(3, found[1].keywords.len);
    assert_true(found[1].has_expected);
    assert_int_equal(UINT64_C(17) << 28, found[1].expected_bytes);
    release(found, count);
}

static void parse(const char *text, struct ml_dictionary *found, size_t count)
{
    struct ml_error err = {0};
    size_t n;

    assert_int_equal(0, ml_setme_parse("SETME.py", text, found, &n, &err));
    assert_int_equal(count, n);
}

/* Strings that are not decoded are an error in a dictionary only. */
static void skips_other_statements(void **state)
{
    struct ml_dictionary found[ML_SETME_DICTIONARIES];

    (void)state;
    parse("\"\"\"C:\\data\\x\"\"\"\npath = f\"{a['b']}\\x41\" + rb'\\''; x = {1: "
          "layer_kw_dict}\n" STRUCTURES,
          found, 1);
    assert_int_equal(3, found[0].keywords.len);
    release(found, 1);
}

static void reads_strings_as_python_does(void **state)
{
    struct ml_dictionary found[ML_SETME_DICTIONARIES];

    (void)state;
    parse("layer_kw_dict = {'a': ['one'], 'b': [r'\\'\\d', 'c\\\r\nd'], 'a': ['two']}\n", found, 1);
    assert_int_equal(2, found[0].categories.len);
    assert_int_equal(3, found[0].keywords.len);
    assert_string_equal("\\'\\d", found[0].keywords.items[0].text);
    assert_string_equal("cd", found[0].keywords.items[1].text);
    assert_string_equal("two", found[0].keywords.items[2].text);
    assert_int_equal(0, found[0].keywords.items[2].category);
    release(found, 1);
}

/* Its first dictionary is a set with an example in a string. */
static void reads_the_template(void **state)
{
    static const char text[] = "layer_kw_dict = \\\n    {\n"
                               "        \"\"\"E.g.,\n        \"RNN\" : [\"rnn\"],\n        \"\"\"\n"
                               "    }\n" STRUCTURES "expected_sum = None\n";
    struct ml_dictionary found[ML_SETME_DICTIONARIES];
    struct ml_error err = {0};
    size_t count;

    (void)state;
    assert_int_equal(0, ml_setme_parse("SETME.py", text, found, &count, &err));
    assert_int_equal(1, count);
    assert_string_equal("Data Structure", found[0].name);
    assert_false(found[0].has_expected);
    release(found, count);
}

static void refuse(const char *text, const char *reason)
{
    struct ml_dictionary found[ML_SETME_DICTIONARIES];
    struct ml_error err = {0};
    size_t count;

    assert_int_equal(-EINVAL, ml_setme_parse("SETME.py", text, found, &count, &err));
    assert_non_null(strstr(err.text, reason));
    release(found, count);
}

static void runs_nothing(void **state)
{
    (void)state;
    refuse("layer_kw_dict = make()\n", "SETME.py, line 1: layer_kw_dict: memledger does not run");
    refuse("\nlayer_kw_dict = {\"a\": \"b\"}\n", "line 2: layer_kw_dict: memledger does not run");
    refuse("layer_kw_dict = {\"a\": [b]}\n", "reads only");
    refuse("layer_kw_dict = {\"a\": [\"b\"] + c}\n", "reads only");
    refuse("layer_kw_dict = {\"a\": [\"b\"]} | more\n", "code follows the literal");
    refuse("layer_kw_dict = {\"a\": [\"b\"]}\nlayer_kw_dict.update(x)\n", "line 2: layer_kw_dict");
    refuse("if x:\n    layer_kw_dict = {\"a\": [\"b\"]}\n", "line 2: layer_kw_dict");
    refuse("import os; layer_kw_dict = {\"a\": [\"b\"]}\n", "at the start of a line");
    refuse("if x: layer_kw_dict = {\"a\": [\"b\"]}\n", "at the start of a line");
    refuse("layer_kw_dict = {\"a\": [f\"{b}\"]}\n", "only plain and raw strings");
    refuse("layer_kw_dict = {\"a\": [\"\\x41\"]}\n", "escape sequence");
    refuse("layer_kw_dict = {\"a\": [\"b\n\"]}\n", "does not end in its line");
    refuse("layer_kw_dict = {}\n", "neither dictionary has keywords");
    refuse("layer_kw_dict = {\"a\": [\"b\"]}\nexpected_sum = 1e99\n", "number of GiB");
}

/* A file that was cut off anywhere is an error, or a shorter file. */
static void survives_any_end(void **state)
{
    (void)state;
    for (size_t len = 0; len < sizeof(filled_in); len++) {
        struct ml_dictionary found[ML_SETME_DICTIONARIES];
        char *text = strndup(filled_in, len);
        struct ml_error err = {0};
        size_t count;

        assert_non_null(text);
        (void)ml_setme_parse("SETME.py", text, found, &count, &err);
        release(found, count);
        free(text);
    }
}

static void knows_other_dictionaries(void **state)
{
    (void)state;
    assert_false(ml_setme_recognise("match = all\n[layer_kw_dict]\nlayer\n"));
    assert_false(ml_setme_recognise("[A]\nlayer_kw_dictionary = 1\n"));
    assert_false(ml_setme_recognise(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_both_dictionaries),
        cmocka_unit_test(skips_other_statements),
        cmocka_unit_test(reads_strings_as_python_does),
        cmocka_unit_test(reads_the_template),
        cmocka_unit_test(runs_nothing),
        cmocka_unit_test(survives_any_end),
        cmocka_unit_test(knows_other_dictionaries),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
