/* test_base_table.c: what base/table.h prints, character by character.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "table.h"
#include "utf8.h"

static void check_print(const struct ml_table *table, size_t width, const char *expected)
{
    struct ml_buf out = {0};

    assert_int_equal(ml_table_print(table, &out, width), 0);
    assert_string_equal(out.data ? (char *)out.data : "", expected);
    ml_buf_release(&out);
}

static void make_scopes(struct ml_table *table)
{
    ml_table_init(table);
    ml_table_column(table, "scope", ML_LEFT);
    ml_table_column(table, "bytes", ML_RIGHT);
    ml_table_column(table, "note", ML_LEFT);
    ml_table_cell(table, "encoder.layer0.weight");
    ml_table_cellf(table, "%d", 1234567);
    ml_table_cell(table, "x");
    ml_table_cell(table, "loss");
    ml_table_cellf(table, "%d", 4);
    ml_table_cell(table, NULL);
}

static void columns_line_up(void **state)
{
    struct ml_table table;

    (void)state;
    make_scopes(&table);
    assert_int_equal(ml_table_rows(&table), 2);
    check_print(&table, 0,
                "scope                    bytes  note\n"
                "---------------------  -------  ----\n"
                "encoder.layer0.weight  1234567  x\n"
                "loss                         4\n");
    check_print(&table, 36,
                "scope                    bytes  note\n"
                "---------------------  -------  ----\n"
                "encoder.layer0.weight  1234567  x\n"
                "loss                         4\n");
    ml_table_release(&table);
    ml_table_release(&table);
}

static void left_columns_shrink(void **state)
{
    struct ml_table table;

    (void)state;
    make_scopes(&table);
    check_print(&table, 30,
                "scope              bytes  note\n"
                "---------------  -------  ----\n"
                "encoder\xe2\x80\xa6.weight  1234567  x\n"
                "loss                   4\n");
    /* 8 columns are the least; numbers are not cut, so the width is exceeded. */
    check_print(&table, 5,
                "scope       bytes  note\n"
                "--------  -------  ----\n"
                "enco\xe2\x80\xa6ght  1234567  x\n"
                "loss            4\n");
    ml_table_release(&table);
}

/* The widest gives first; two of equal width share. */
static void the_widest_shrinks_first(void **state)
{
    struct ml_table table;

    (void)state;
    ml_table_init(&table);
    ml_table_column(&table, "a", ML_LEFT);
    ml_table_column(&table, "b", ML_LEFT);
    ml_table_cell(&table, "0123456789abcdefghij");
    ml_table_cell(&table, "0123456789");
    check_print(&table, 22,
                "a           b\n"
                "----------  ----------\n"
                "01234\xe2\x80\xa6ghij  0123456789\n");
    check_print(&table, 20,
                "a          b\n"
                "---------  ---------\n"
                "0123\xe2\x80\xa6ghij  0123\xe2\x80\xa6"
                "6789\n");
    ml_table_release(&table);
}

/* Here the wider one stays whole, until the other has given all it can. */
static void a_kept_column_shrinks_last(void **state)
{
    struct ml_table table;

    (void)state;
    ml_table_init(&table);
    ml_table_column(&table, "a", ML_LEFT);
    ml_table_column(&table, "b", ML_LEFT);
    ml_table_keep(&table, 0);
    ml_table_cell(&table, "0123456789abcdefghij");
    ml_table_cell(&table, "0123456789");
    check_print(&table, 30,
                "a                     b\n"
                "--------------------  --------\n"
                "0123456789abcdefghij  0123\xe2\x80\xa6"
                "789\n");
    check_print(&table, 20,
                "a           b\n"
                "----------  --------\n"
                "01234\xe2\x80\xa6ghij  0123\xe2\x80\xa6"
                "789\n");
    ml_table_release(&table);
}

static void a_name_and_its_class_are_not_fused(void **state)
{
    struct ml_table table;

    (void)state;
    ml_table_init(&table);
    ml_table_column(&table, "module", ML_TITLED);
    ml_table_cell(&table, "all");
    ml_table_cell(&table, "  self_attn  MultiheadAttention");
    ml_table_cell(&table, "  norm  LayerNorm");
    check_print(&table, 20,
                "module\n"
                "--------------------\n"
                "all\n"
                "  self_attn  Mul\xe2\x80\xa6ion\n"
                "  norm  LayerNorm\n");
    check_print(&table, 15,
                "module\n"
                "---------------\n"
                "all\n"
                "  self_attn\n"
                "  norm  Lay\xe2\x80\xa6orm\n");
    check_print(&table, 9,
                "module\n"
                "---------\n"
                "all\n"
                "  se\xe2\x80\xa6"
                "attn\n"
                "  norm\n");
    ml_table_release(&table);
}

static void wide_characters_keep_the_columns(void **state)
{
    struct ml_table table;

    (void)state;
    ml_table_init(&table);
    ml_table_column(&table, "name", ML_LEFT);
    ml_table_column(&table, "n", ML_RIGHT);
    ml_table_cell(&table, "\xe6\xbc\xa2\xe5\xad\x97");
    ml_table_cell(&table, "1");
    ml_table_cell(&table, "caf\xc3\xa9");
    ml_table_cell(&table, "2");
    check_print(&table, 0,
                "name  n\n"
                "----  -\n"
                "\xe6\xbc\xa2\xe5\xad\x97  1\n"
                "caf\xc3\xa9  2\n");
    ml_table_release(&table);
}

/* Clip a line of wide characters at every width: each printed line stays valid
 * and no wider than asked. */
static void clipping_never_cuts_a_character(void **state)
{
    struct ml_table table;

    (void)state;
    ml_table_init(&table);
    ml_table_column(&table, "", ML_LEFT);
    ml_table_cell(&table, "a\xe6\xbc\xa2\xe5\xad\x97"
                          "e\xcc\x81\xe6\xbc\xa2\xe5\xad\x97"
                          "\xf0\x9f\x98\x80\xf0\x9f\x98\x80"
                          "e\xcc\x81z");
    for (size_t width = 8; width < 20; width++) {
        struct ml_buf out = {0};
        uint32_t codepoint;

        assert_int_equal(ml_table_print(&table, &out, width), 0);
        assert_true(ml_utf8_width((char *)out.data, out.len - 1) <= width);
        for (size_t at = 0; at < out.len;) {
            size_t bytes = ml_utf8_decode((char *)out.data + at, out.len - at, &codepoint);

            assert_true(bytes > 0);
            at += bytes;
        }
        ml_buf_release(&out);
    }
    ml_table_release(&table);
}

static void cells_cannot_drive_the_terminal(void **state)
{
    struct ml_table table;

    (void)state;
    ml_table_init(&table);
    ml_table_column(&table, "", ML_LEFT);
    ml_table_cell(&table, "\033[31mred\x7f");
    ml_table_cell(&table, "two\nlines\tand a tab");
    ml_table_cell(&table, "bad \xff\xc3 bytes");
    ml_table_cell(&table, "c1 \xc2\x9b bidi \xe2\x80\xae.");
    check_print(&table, 0,
                "?[31mred?\n"
                "two lines and a tab\n"
                "bad ?? bytes\n"
                "c1 ? bidi ?.\n");
    ml_table_release(&table);
}

static void parts_are_cut_each_for_itself(void **state)
{
    struct ml_table table;

    (void)state;
    ml_table_init(&table);
    ml_table_column(&table, "who", ML_PARTS);
    ml_table_cell(&table, "main < abcdefghijklmnop < ABCDEFGHIJKLMNOP");
    check_print(&table, 80,
                "who\n------------------------------------------\n"
                "main < abcdefghijklmnop < ABCDEFGHIJKLMNOP\n");
    check_print(&table, 30,
                "who\n------------------------------\n"
                "main < … < ABCDEFGHIJKLMNOP\n");
    check_print(&table, 24, "who\n------------------------\nmain < … < ABCDEF…KLMNOP\n");
    check_print(&table, 20, "who\n--------------------\nmain < …\n");
    ml_table_release(&table);
}

static void parts_keep_their_files_and_lines(void **state)
{
    struct ml_table table;

    (void)state;
    ml_table_init(&table);
    ml_table_column(&table, "stack", ML_PARTS);
    ml_table_cell(&table,
                  "Net.forward (/home/me/net.py:12) < call (/lib/module.py:90) < main (/a.py:3)");
    ml_table_cell(&table, "at::empty(long, bool) < libc10.so+0x1b1e2 < … < run (/home/me/b.py:7)");
    check_print(&table, 62,
                "stack\n--------------------------------------------------------------\n"
                "Net.forward (net.py:12) < call (module.py:90) < main (a.py:3)\n"
                "at::empty(long, bool) < libc10.so+0x1b1e2 < … < run (b.py:7)\n");
    check_print(&table, 45,
                "stack\n---------------------------------------------\n"
                "Net.forward (net.py:12) < … < main (a.py:3)\n"
                "at::empty(long, bool) < … < run (b.py:7)\n");
    check_print(&table, 36,
                "stack\n------------------------------------\n"
                "Net… (net.py:12) < … < main (a.py:3)\n"
                "at::empty(long, … < … < run (b.py:7)\n");
    ml_table_release(&table);
}

static void a_place_keeps_its_line(void **state)
{
    struct ml_table table;

    (void)state;
    ml_table_init(&table);
    ml_table_column(&table, "line", ML_PLACE);
    ml_table_cell(&table, "home/train it.py:123 forward");
    ml_table_cell(&table, "(no line, and no place at all)");
    check_print(&table, 24,
                "line\n------------------------\n"
                "home/train it.py:123 fo…\n(no line, an…ace at all)\n");
    check_print(&table, 20,
                "line\n--------------------\n"
                "home/train it.py:123\n(no line, …e at all)\n");
    check_print(&table, 12, "line\n------------\n…n it.py:123\n(no li… all)\n");
    ml_table_release(&table);
}

static void odd_shapes_print(void **state)
{
    struct ml_table table;

    (void)state;
    ml_table_init(&table);
    check_print(&table, 80, "");
    ml_table_column(&table, "only", ML_RIGHT);
    ml_table_column(&table, "titles", ML_LEFT);
    assert_int_equal(ml_table_rows(&table), 0);
    check_print(&table, 80, "only  titles\n----  ------\n");
    ml_table_cell(&table, "1");
    assert_int_equal(ml_table_rows(&table), 1);
    check_print(&table, 80, "only  titles\n----  ------\n   1\n");
    ml_table_release(&table);
}

static void misuse_is_kept(void **state)
{
    struct ml_buf out = {0};
    struct ml_table table;

    (void)state;
    ml_table_init(&table);
    assert_int_equal(ml_table_cell(&table, "no column"), -EINVAL);
    assert_int_equal(ml_table_column(&table, "late", ML_LEFT), -EINVAL);
    assert_int_equal(ml_table_print(&table, &out, 0), -EINVAL);
    ml_table_release(&table);
    ml_table_column(&table, "a", ML_LEFT);
    ml_table_cellf(&table, "%s", "b");
    assert_int_equal(ml_table_column(&table, "late", ML_LEFT), -EINVAL);
    assert_int_equal(ml_table_cell(&table, "c"), -EINVAL);
    assert_int_equal(ml_table_print(&table, &out, 0), -EINVAL);
    assert_int_equal(out.len, 0);
    ml_table_release(&table);
    ml_buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_line_up),
        cmocka_unit_test(left_columns_shrink),
        cmocka_unit_test(parts_are_cut_each_for_itself),
        cmocka_unit_test(parts_keep_their_files_and_lines),
        cmocka_unit_test(the_widest_shrinks_first),
        cmocka_unit_test(a_kept_column_shrinks_last),
        cmocka_unit_test(a_name_and_its_class_are_not_fused),
        cmocka_unit_test(wide_characters_keep_the_columns),
        cmocka_unit_test(clipping_never_cuts_a_character),
        cmocka_unit_test(cells_cannot_drive_the_terminal),
        cmocka_unit_test(a_place_keeps_its_line),
        cmocka_unit_test(odd_shapes_print),
        cmocka_unit_test(misuse_is_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
