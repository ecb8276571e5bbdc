/* test_python_tables.c: lines of instructions, and which interpreters are known.
 * tests/integration/python_stacks has real code objects; here are the cases that those lack.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compiler.h"
#include "python_layout.h"

static uint32_t line_from(enum ml_python_lines kind, const char *table, size_t size, int32_t first,
                          int32_t instruction)
{
    /* On the heap and of the exact size, for sanitizers. */
    uint8_t *copy = malloc(size ? size : 1);
    uint32_t found;

    assert_non_null(copy);
    memcpy(copy, table, size);
    found = ml_python_line(kind, copy, size, first, instruction);
    free(copy);
    return found;
}
#define LINE_FROM(kind, table, first, at) line_from(kind, table, sizeof(table) - 1, first, at)
#define LINE(kind, table, at) LINE_FROM(kind, table, 100, at)

static void test_lnotab(void **state)
{
    (void)state;
    assert_int_equal(LINE(ML_PYTHON_LNOTAB, "", 6), 100);
    assert_int_equal(LINE(ML_PYTHON_LNOTAB, "\x04\x02\x02\xff", 3), 100);
    assert_int_equal(LINE(ML_PYTHON_LNOTAB, "\x04\x02\x02\xff", 4), 102);
    assert_int_equal(LINE(ML_PYTHON_LNOTAB, "\x04\x02\x02\xff", 60), 101);
    assert_int_equal(LINE(ML_PYTHON_LNOTAB, "\x04", 60), 100);
}

static void test_linetable(void **state)
{
    (void)state;
    assert_int_equal(LINE(ML_PYTHON_LINETABLE, "\x04\x01\x02\x80\x02\xfe", 2), 101);
    assert_int_equal(LINE(ML_PYTHON_LINETABLE, "\x04\x01\x02\x80\x02\xfe", 4), 0);
    assert_int_equal(LINE(ML_PYTHON_LINETABLE, "\x04\x01\x02\x80\x02\xfe", 6), 99);
    assert_int_equal(LINE(ML_PYTHON_LINETABLE, "\x04\x01\x02\x80\x02\xfe", 8), 0);
}

static void test_locations(void **state)
{
    /* No line for a word; 2 words 3 lines on; 1 word 1 on with columns; 1 word a line back,
     * written long; 8 words that stay there. */
    static const char table[] = "\xf8\xe9\x06\xd8\x01\x02\xf0\x03\x01\x02\x03\x87\x05";

    (void)state;
    assert_int_equal(LINE(ML_PYTHON_LOCATIONS, table, 0), 0);
    assert_int_equal(LINE(ML_PYTHON_LOCATIONS, table, 2), 103);
    assert_int_equal(LINE(ML_PYTHON_LOCATIONS, table, 4), 103);
    assert_int_equal(LINE(ML_PYTHON_LOCATIONS, table, 6), 104);
    assert_int_equal(LINE(ML_PYTHON_LOCATIONS, table, 8), 103);
    assert_int_equal(LINE(ML_PYTHON_LOCATIONS, table, 24), 103);
    assert_int_equal(LINE(ML_PYTHON_LOCATIONS, table, 26), 0);
    assert_int_equal(LINE(ML_PYTHON_LOCATIONS, table, -2), 0);
}

static void test_nonsense(void **state)
{
    static const char *const tables[] = {"\xf0", "\xe8\x7f\x7f\x7f\x7f\x7f\x7f\x7f", "\x7f\x7f",
                                         "\xf0\x40"};

    static const int32_t firsts[] = {100, INT32_MAX, INT32_MIN};

    (void)state;
    for (size_t i = 0; i < ML_ARRAY_SIZE(tables); i++) {
        for (int kind = ML_PYTHON_LNOTAB; kind <= ML_PYTHON_LOCATIONS; kind++)
            for (size_t f = 0; f < ML_ARRAY_SIZE(firsts); f++)
                line_from((enum ml_python_lines)kind, tables[i], strlen(tables[i]), firsts[f],
                          1000);
    }
}

static void test_known_versions(void **state)
{
    static const uint64_t nothing[128];
    struct ml_python_layout layout;

    (void)state;
    for (uint32_t minor = 9; minor <= 12; minor++)
        assert_true(ml_python_layout(0x030000f0 | minor << 16, nothing, &layout));
    assert_false(ml_python_layout(0x030800f0, nothing, &layout));
    assert_false(ml_python_layout(0x030f00f0, nothing, &layout));
    assert_false(ml_python_layout(0x030d00f0, nothing, &layout));
}

/* From 3.13 on the interpreter tells where things are, and whether it has a lock. */
static void test_told(void **state)
{
    uint64_t words[128] = {0};
    struct ml_python_layout layout;

    (void)state;
    memcpy(words, "xdebugpy", 8);
    words[1] = 0x030d01f0;
    words[23] = 72;
    words[45] = 8;
    assert_true(ml_python_layout(0x030d01f0, words, &layout));
    assert_int_equal(layout.thread_frame, 72);
    assert_false(ml_python_layout(0x030d02f0, words, &layout));
    words[2] = 1;
    assert_false(ml_python_layout(0x030d01f0, words, &layout));
    words[2] = 0;
    words[23] = 1 << 20;
    assert_false(ml_python_layout(0x030d01f0, words, &layout));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lnotab),         cmocka_unit_test(test_linetable),
        cmocka_unit_test(test_locations),      cmocka_unit_test(test_nonsense),
        cmocka_unit_test(test_known_versions), cmocka_unit_test(test_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
