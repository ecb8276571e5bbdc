/* test_base_name_cut.c: names that are cut stay apart; what they share is told once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "name_cut.h"
#include "utf8.h"

#define NAMES_MAX 40

struct names {
    struct ml_table_text list[NAMES_MAX];
    size_t count;
};

static void add(struct names *names, const char *text)
{
    size_t len = strlen(text);

    names->list[names->count++] =
        (struct ml_table_text){.bytes = text, .len = len, .width = ml_utf8_width(text, len)};
}

static struct names names_of(const char *const *texts)
{
    struct names names = {0};

    for (size_t i = 0; texts[i]; i++)
        add(&names, texts[i]);
    return names;
}

#define NAMES(...) names_of((const char *const[]){__VA_ARGS__, NULL})

/* ---- What names have in common ------------------------------------------- */

static void check_common(struct names names, const char *separators, size_t expected)
{
    assert_int_equal(ml_names_common(names.list, names.count, separators), expected);
}

static void a_common_start_ends_behind_a_separator(void **state)
{
    (void)state;
    check_common(NAMES("model.layers.10.attn", "model.layers.11.attn"), ".", 13);
    check_common(NAMES("model.layers", "model.lamp"), ".", 6);
    check_common(NAMES("run > forward > a", "run > forward > b"), " ", 16);
    check_common(NAMES("abcdef", "abcxyz"), ".", 0);
    check_common(NAMES("a.b", "a.c"), ".", 0); /* too short to be worth a line */
}

static void names_in_parentheses_do_not_count(void **state)
{
    (void)state;
    check_common(NAMES("model.layers.a", "(no scope)", "", "model.layers.b"), ".", 13);
    check_common(NAMES("(no scope)", ""), ".", 0);
}

static void nothing_is_common_to_one_name(void **state)
{
    struct names none = {0};

    (void)state;
    check_common(none, ".", 0);
    check_common(NAMES("model.layers.a"), ".", 0);
    check_common(NAMES("model.layers.a", "model.layers.a"), ".", 0);
}

static void something_is_left_of_each_name(void **state)
{
    (void)state;
    check_common(NAMES("model.layers.", "model.layers.a"), ".", 6);
    check_common(NAMES("model.", "model.a"), ".", 0);
}

/* ---- Cuts ------------------------------------------------------------------ */

/* Checks that no name gets wider than asked, and that different ones look different. */
static void check_apart(const struct names *names, size_t width)
{
    struct ml_name_cut cuts[NAMES_MAX];
    struct ml_buf shown[NAMES_MAX] = {{0}};

    assert_int_equal(ml_names_cut(names->list, names->count, width, cuts), 0);
    for (size_t i = 0; i < names->count; i++) {
        assert_int_equal(ml_buf_puts(&shown[i], ""), 0);
        assert_int_equal(ml_name_cut_put(&names->list[i], &cuts[i], &shown[i]), 0);
        assert_true(ml_utf8_width((char *)shown[i].data, shown[i].len) <= width);
        for (size_t k = 0; k < i; k++) {
            bool same = strcmp(names->list[i].bytes, names->list[k].bytes) == 0;

            if (same != (strcmp((char *)shown[i].data, (char *)shown[k].data) == 0))
                fail_msg("at %zu columns: %s, %s: %s, %s", width, names->list[i].bytes,
                         names->list[k].bytes, (char *)shown[i].data, (char *)shown[k].data);
        }
    }
    for (size_t i = 0; i < names->count; i++)
        ml_buf_release(&shown[i]);
}

static void check_shown(struct names names, size_t width, const char *const *expected)
{
    struct ml_name_cut cuts[NAMES_MAX];

    assert_int_equal(ml_names_cut(names.list, names.count, width, cuts), 0);
    for (size_t i = 0; i < names.count; i++) {
        struct ml_buf shown = {0};

        assert_int_equal(ml_name_cut_put(&names.list[i], &cuts[i], &shown), 0);
        assert_string_equal(shown.data ? (char *)shown.data : "", expected[i]);
        ml_buf_release(&shown);
    }
}

#define SHOWN(...) ((const char *const[]){__VA_ARGS__})

static void names_lose_their_middle(void **state)
{
    (void)state;
    check_shown(NAMES("encoder.layer0.weight"), 15, SHOWN("encoder….weight"));
    check_shown(NAMES("ab", "", "a"), 3, SHOWN("ab", "", "a"));
}

static void a_difference_in_the_middle_stays(void **state)
{
    struct names names = NAMES("transformer.encoder.layers.10.attention.self.weight",
                               "transformer.encoder.layers.11.attention.self.weight",
                               "transformer.encoder.layers.1.attention.self.weight");

    (void)state;
    for (size_t width = 8; width < 60; width++)
        check_apart(&names, width);
}

static void differences_at_both_ends_stay(void **state)
{
    struct names front = NAMES("a very long name of a tensor", "b very long name of a tensor");
    struct names back = NAMES("a very long name of a tensor 1", "a very long name of a tensor 2");

    (void)state;
    for (size_t width = 8; width < 32; width++) {
        check_apart(&front, width);
        check_apart(&back, width);
    }
}

static void equal_names_look_equal(void **state)
{
    struct names names = NAMES("layers.0.attention.weight", "layers.0.attention.weight",
                               "layers.0.attention.weighs");

    (void)state;
    for (size_t width = 8; width < 30; width++)
        check_apart(&names, width);
}

static void wide_characters_stay_whole(void **state)
{
    struct names names = NAMES("層.注意.漢字漢字漢字漢字漢字甲.重み.漢字漢字漢字漢字漢字",
                               "層.注意.漢字漢字漢字漢字漢字乙.重み.漢字漢字漢字漢字漢字",
                               "層.注意.漢字e\xcc\x81漢字漢字漢字漢丙.重み.漢字漢字漢字漢字漢字");

    (void)state;
    for (size_t width = 8; width < 60; width++)
        check_apart(&names, width);
}

/* Forty layers whose names differ at one of four places. */
static void many_names_stay_apart(void **state)
{
    static char texts[NAMES_MAX][96];
    struct names names = {0};

    (void)state;
    for (int i = 0; i < NAMES_MAX; i++) {
        snprintf(texts[i], sizeof(texts[i]), "model%d.transformer.block%02d.attention.head%d.out%d",
                 i % 2, i / 4, i % 4 == 3, i % 4 == 2);
        add(&names, texts[i]);
    }
    for (size_t width = 28; width < 64; width++)
        check_apart(&names, width);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_common_start_ends_behind_a_separator),
        cmocka_unit_test(names_in_parentheses_do_not_count),
        cmocka_unit_test(nothing_is_common_to_one_name),
        cmocka_unit_test(something_is_left_of_each_name),
        cmocka_unit_test(names_lose_their_middle),
        cmocka_unit_test(a_difference_in_the_middle_stays),
        cmocka_unit_test(differences_at_both_ends_stay),
        cmocka_unit_test(equal_names_look_equal),
        cmocka_unit_test(wide_characters_stay_whole),
        cmocka_unit_test(many_names_stay_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
