/* test_dictionary.c: keyword dictionaries, how they match, and what grouping makes of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "grouping.h"

#define MIB (UINT64_C(1) << 20)

static void add(struct ml_tag_list *list, const char *tag, uint64_t bytes)
{
    int64_t id = ml_intern_put(&list->tags, tag, strlen(tag), NULL);

    assert_true(id >= 0);
    assert_int_equal(
        0, ml_vec_push(&list->list, (struct ml_tagged){.bytes = bytes, .tag = (uint32_t)id}));
    list->bytes += bytes;
}

static void parse(const char *text, struct ml_dictionary *ret)
{
    struct ml_error err = {0};

    assert_int_equal(0, ml_dictionary_parse("test", text, ret, &err));
}

static const char *category_of(const struct ml_dictionary *d, const char *tag)
{
    int64_t keyword = ml_dictionary_match(d, tag, 0);

    return keyword < 0 ? NULL : d->categories.items[d->keywords.items[keyword].category];
}

/* ---- Reading ------------------------------------------------------------ */

static void test_text(void **state)
{
    struct ml_dictionary d;

    (void)state;
    parse("# a comment\n"
          "match = all\n"
          "others = The rest\n"
          "\n"
          "[Weights]\n"
          "  in_arg: \t\n"
          "/^(aux|opt)_/\n"
          "[Odd]\n"
          "\"# odd\"\n"
          "/CONV[0-9]+/i\n"
          "[Weights]\n"
          "head",
          &d);
    assert_int_equal(ML_MATCH_ALL, d.match);
    assert_string_equal("The rest", d.others);
    assert_int_equal(2, d.categories.len);
    assert_int_equal(5, d.keywords.len);
    assert_string_equal("Weights", category_of(&d, "in_arg:fc1"));
    assert_string_equal("Weights", category_of(&d, "opt_x"));
    assert_null(category_of(&d, "x_opt_"));
    assert_string_equal("Odd", category_of(&d, "a # odd one"));
    assert_string_equal("Odd", category_of(&d, "my conv12"));
    assert_string_equal("Weights", category_of(&d, "overhead"));
    assert_null(category_of(&d, "In_Arg:fc1")); /* capitals count */
    ml_dictionary_release(&d);
}

static void refuse(const char *text, const char *reason)
{
    struct ml_dictionary d;
    struct ml_error err = {0};

    assert_int_equal(-EINVAL, ml_dictionary_parse("mine.txt", text, &d, &err));
    assert_non_null(strstr(err.text, reason));
    ml_dictionary_release(&d);
}

static void test_mistakes(void **state)
{
    (void)state;
    refuse("in_arg\n", "mine.txt, line 1: a keyword before the first [category]");
    refuse("match = some\n[A]\nb\n", "line 1: settings are");
    refuse("[A]\n\n/(/\n", "line 3: ");
    refuse("[ ]\n", "line 1: a category needs a name");
    refuse("[A]\n", "no keywords");
}

static void test_builtins(void **state)
{
    (void)state;
    for (size_t i = 0; ml_dictionary_names[i]; i++) {
        struct ml_dictionary d;
        struct ml_error err = {0};

        assert_int_equal(0, ml_dictionary_builtin(ml_dictionary_names[i], &d, &err));
        assert_true(d.keywords.len > 2);
        ml_dictionary_release(&d);
    }
    assert_null(ml_dictionary_text("nobody"));
}

/* ---- Grouping ----------------------------------------------------------- */

static void test_all_matches_count_each(void **state)
{
    struct ml_grouping_opts opts = {.top = 20, .has_expected = true, .expected_bytes = 100 * MIB};
    struct ml_tag_list list = {0};
    struct ml_dictionary d;
    struct ml_grouping g;

    (void)state;
    parse("match = all\n[A]\nin_arg\nfc\n[B]\nfc\n", &d);
    add(&list, "in_arg:fc1_weight", 10 * MIB);  /* A twice, B once */
    add(&list, "arg_grad:fc1_weight", 5 * MIB); /* A and B */
    add(&list, "unknown:_zeros", 2 * MIB);
    assert_int_equal(0, ml_grouping(&list, &d, &opts, &g));
    assert_int_equal(4, g.groups.len);
    assert_string_equal("A", g.groups.items[0].name);
    assert_int_equal(25 * MIB, g.groups.items[0].bytes);
    assert_int_equal(2, g.groups.items[0].entries.len);
    assert_int_equal(20 * MIB, g.groups.items[0].entries.items[0].bytes);
    assert_int_equal(3, g.groups.items[0].count);
    assert_int_equal(2, g.groups.items[0].entries.items[0].count);
    assert_int_equal(15 * MIB, g.groups.items[1].bytes);
    assert_true(g.groups.items[2].is_others);
    assert_string_equal("Others", g.groups.items[2].name);
    /* Each row once, whatever it matched. */
    assert_true(g.groups.items[3].is_untrackable);
    assert_int_equal(83 * MIB, g.groups.items[3].bytes);
    assert_int_equal(17 * MIB, g.total_bytes);
    assert_int_equal(2, g.clashes.len); /* tags, not pairs of keywords */
    assert_string_equal("in_arg:fc1_weight", g.clashes.items[0].tag);
    assert_int_equal(3, g.clashes.items[0].match_count);
    assert_string_equal("in_arg", g.clashes.items[0].matches[0].keyword);
    assert_string_equal("fc", g.clashes.items[0].matches[2].keyword);
    assert_string_equal("A", g.clashes.items[0].matches[1].category);
    assert_string_equal("B", g.clashes.items[0].matches[2].category);
    assert_int_equal(2, g.clashes.items[1].match_count);
    ml_grouping_release(&g);
    ml_dictionary_release(&d);
    ml_tag_list_release(&list);
}

static void test_first_match_has_it(void **state)
{
    struct ml_grouping_opts opts = {.top = 1, .has_expected = true, .expected_bytes = 10 * MIB};
    struct ml_tag_list list = {0};
    struct ml_dictionary d;
    struct ml_grouping g;

    (void)state;
    parse("[B]\nweight\n[A]\nin_arg\n", &d);
    add(&list, "in_arg:b_bias", MIB);
    add(&list, "in_arg:a_weight", 8 * MIB);
    add(&list, "in_arg:c_weight", 2 * MIB);
    add(&list, "in_arg:b_bias", 6 * MIB);
    assert_int_equal(0, ml_grouping(&list, &d, &opts, &g));
    assert_int_equal(3, g.groups.len);
    assert_string_equal("B", g.groups.items[0].name);
    assert_int_equal(1, g.groups.items[0].entries.len);
    assert_string_equal("in_arg:a_weight", g.groups.items[0].entries.items[0].tag);
    assert_int_equal(1, g.groups.items[0].rest_entries);
    assert_int_equal(2 * MIB, g.groups.items[0].rest_bytes);
    assert_int_equal(2, g.groups.items[1].entries.items[0].count);
    assert_int_equal(7 * MIB, g.groups.items[1].bytes);
    assert_int_equal(0, g.clashes.len);
    assert_int_equal(-7 * (int64_t)MIB, g.groups.items[2].bytes); /* less was expected */
    assert_true(g.groups.items[1].percent > 69.9 && g.groups.items[1].percent < 70.1);
    ml_grouping_release(&g);
    ml_dictionary_release(&d);
    ml_tag_list_release(&list);
}

/* A damaged file may say anything, and a tag that two keywords match counts twice. */
static void test_sums_end_at_the_largest_number(void **state)
{
    struct ml_grouping_opts opts = {.top = 1, .has_expected = true, .expected_bytes = UINT64_MAX};
    struct ml_tag_list list = {0};
    struct ml_dictionary d;
    struct ml_grouping g;

    (void)state;
    parse("match = all\n[A]\na\nb\n", &d);
    add(&list, "ab", INT64_MAX);
    assert_int_equal(0, ml_grouping(&list, &d, &opts, &g));
    assert_true(g.groups.items[0].bytes == INT64_MAX);
    assert_true(g.groups.items[1].bytes == INT64_MAX); /* what cannot be tracked */
    ml_grouping_release(&g);
    ml_dictionary_release(&d);
    ml_tag_list_release(&list);
}

static void test_nothing(void **state)
{
    struct ml_grouping_opts opts = {.top = 1};
    struct ml_tag_list list = {0};
    struct ml_dictionary d;
    struct ml_grouping g;

    (void)state;
    parse("[A]\na\n", &d);
    assert_int_equal(0, ml_grouping(&list, &d, &opts, &g));
    assert_int_equal(0, g.groups.len);
    ml_grouping_release(&g);
    ml_dictionary_release(&d);
}

/* Brackets and one word: what TBD's analysis looks at. */
static void test_bracketed(void **state)
{
    struct ml_buf subject = {0};
    struct ml_dictionary d;

    (void)state;
    parse("tags = bracketed\n[Data]\n(data)\n[Room]\ntemp_space\n", &d);
    assert_int_equal(0, ml_dictionary_subject(&d, "data", NULL, &subject));
    assert_string_equal("(data).", (char *)subject.data);
    assert_string_equal("Data", category_of(&d, (char *)subject.data));
    assert_int_equal(0, ml_dictionary_subject(&d, "my_data", NULL, &subject));
    assert_null(category_of(&d, (char *)subject.data));
    assert_int_equal(0, ml_dictionary_subject(&d, "a temp space", NULL, &subject));
    assert_string_equal("Room", category_of(&d, (char *)subject.data));
    ml_buf_release(&subject);
    ml_dictionary_release(&d);
}

/* Keywords match a tag or the class of its module; the order of keywords decides. */
static void test_classes(void **state)
{
    struct ml_buf subject = {0};
    struct ml_error err = {0};
    struct ml_dictionary d;
    static const struct {
        const char *tag, *class_name, *category;
    } cases[] = {
        {"in_arg:features.0.weight", "Conv2d", "Convolution"},
        {"data_entry:features.1_oedge0", "BatchNorm2d", "Normalization"},
        {"data_entry:head.2_oedge0", "ReLU", "Activation"},
        {"data_entry:blocks.0.attn.qkv_oedge0", "Linear", "Attention"},
        {"data_entry:net.3_oedge0", "Flatten", NULL},
        {"data_entry:features.0_oedge0", NULL, NULL},
    };

    (void)state;
    assert_int_equal(0, ml_dictionary_builtin("layers", &d, &err));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *category;

        assert_int_equal(0, ml_dictionary_subject(&d, cases[i].tag, cases[i].class_name, &subject));
        category = category_of(&d, (char *)subject.data);
        if (cases[i].category)
            assert_string_equal(cases[i].category, category);
        else
            assert_null(category);
    }
    ml_buf_release(&subject);
    ml_dictionary_release(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_builtins),
        cmocka_unit_test(test_all_matches_count_each),
        cmocka_unit_test(test_first_match_has_it),
        cmocka_unit_test(test_sums_end_at_the_largest_number),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_bracketed),
        cmocka_unit_test(test_classes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
