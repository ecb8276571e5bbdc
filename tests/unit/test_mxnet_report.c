/* test_mxnet_report.c: the top entries as MXNet's script prints them: sums, cut tags, and the
 * line breaks of Python's pprint. Python printed the expected text.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "mxnet_report.h"

#define MIB (UINT64_C(1) << 20)

static void add(struct ml_tag_list *list, const char *tag, uint64_t bytes)
{
    int64_t number = ml_intern_put(&list->tags, tag, strlen(tag), NULL);

    assert_true(number >= 0);
    assert_int_equal(
        ml_vec_push(&list->list, (struct ml_tagged){.bytes = bytes, .tag = (uint32_t)number}), 0);
    list->bytes += bytes;
}

/* Prints and releases the list. */
static void prints(struct ml_tag_list *list, const char *keywords,
                   const struct ml_grouping_opts *opts, const char *expected)
{
    struct ml_dictionary dictionary;
    struct ml_grouping grouping;
    struct ml_error err = {0};
    struct ml_buf out = {0};

    assert_int_equal(ml_dictionary_parse("mine", keywords, &dictionary, &err), 0);
    assert_int_equal(ml_grouping(list, &dictionary, opts, &grouping), 0);
    assert_int_equal(ml_mxnet_text(&grouping, &out), 0);
    assert_string_equal((const char *)out.data, expected);
    ml_buf_release(&out);
    ml_grouping_release(&grouping);
    ml_dictionary_release(&dictionary);
    ml_tag_list_release(list);
}

static void sums_and_what_cannot_be_tracked(void **state)
{
    const struct ml_grouping_opts opts = {
        .top = 1, .tag_chars = ML_MXNET_TAG_CHARS, .has_expected = true, .expected_bytes = 8 * MIB};
    struct ml_tag_list list = {0};

    (void)state;
    add(&list, "in_arg:a", 512 * 1024);
    add(&list, "in_arg:b", 2 * MIB);
    add(&list, "in_arg:a", 512 * 1024);
    add(&list, "x", MIB);
    prints(&list, "[Parameters]\nin_arg\n", &opts,
           "Keyword: Parameters, Total Consumption: 0.002930\n"
           "Entries:\n"
           "[('in_arg:b', 0.001953125)]\n"
           "Keyword: Others, Total Consumption: 0.000977\n"
           "Entries:\n"
           "[('x', 0.0009765625)]\n"
           "Untrackable Consumption: 0.003906\n");
}

static void long_tags_are_cut_and_one(void **state)
{
    const struct ml_grouping_opts opts = {.top = ML_MXNET_TOP, .tag_chars = ML_MXNET_TAG_CHARS};
    struct ml_tag_list list = {0};

    (void)state;
    add(&list, "in_arg:012345678901234567890123456789012345678901", MIB); /* 49 */
    add(&list, "in_arg:0123456789012345678901234567890123456789012345", 2 * MIB);
    add(&list, "in_arg:01234567890123456789012345678901234567890123456789", 3 * MIB);
    prints(&list, "[Parameters]\nin_arg\n", &opts,
           "Keyword: Parameters, Total Consumption: 0.005859\n"
           "Entries:\n"
           "[('in_arg:0123456789012345678901234567890123456789012..', 0.0048828125),\n"
           " ('in_arg:012345678901234567890123456789012345678901', 0.0009765625)]\n");
}

static void what_is_too_long_is_broken(void **state)
{
    const struct ml_grouping_opts opts = {.top = ML_MXNET_TOP, .tag_chars = ML_MXNET_TAG_CHARS};
    struct ml_tag_list list = {0};

    (void)state;
    add(&list,
        "unknown:of several words which do not fit into one line, so that it is broken at 77", MIB);
    prints(&list, "[Nobody]\nnobody\n", &opts,
           "Keyword: Others, Total Consumption: 0.000977\n"
           "Entries:\n"
           "[('unknown:of several words which do not fit into one line, so that it is '\n"
           "  'broken at 77',\n"
           "  0.0009765625)]\n");
}

static void names_are_harmless(void **state)
{
    const struct ml_grouping_opts opts = {.top = ML_MXNET_TOP, .tag_chars = ML_MXNET_TAG_CHARS};
    struct ml_tag_list list = {0};

    (void)state;
    add(&list, "it's \033[31m\xff\xc2\x9b\n\\ \xc3\xa4", MIB);
    prints(&list, "[Nobody]\nnobody\n", &opts,
           "Keyword: Others, Total Consumption: 0.000977\n"
           "Entries:\n"
           "[(\"it's \\x1b[31m\\xff\\x9b\\n\\\\ \xc3\xa4\", 0.0009765625)]\n");
}

static void nothing_is_nothing(void **state)
{
    struct ml_tag_list list = {0};
    struct ml_dictionary dictionary;
    struct ml_grouping grouping;
    struct ml_error err = {0};
    struct ml_buf out = {0};

    (void)state;
    assert_int_equal(ml_dictionary_parse("mine", "[A]\na\n", &dictionary, &err), 0);
    assert_int_equal(
        ml_grouping(&list, &dictionary, &(struct ml_grouping_opts){.tag_chars = 5}, &grouping), 0);
    assert_int_equal(ml_mxnet_text(&grouping, &out), 0);
    assert_int_equal(out.len, 0);
    ml_buf_release(&out);
    ml_grouping_release(&grouping);
    ml_dictionary_release(&dictionary);
    ml_tag_list_release(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_and_what_cannot_be_tracked),
        cmocka_unit_test(long_tags_are_cut_and_one),
        cmocka_unit_test(what_is_too_long_is_broken),
        cmocka_unit_test(names_are_harmless),
        cmocka_unit_test(nothing_is_nothing),
    };

    return cmocka_run_group_tests_name("mxnet_report", tests, NULL, NULL);
}
