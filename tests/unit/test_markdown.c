/* test_markdown.c: pages of the documentation as text for a terminal.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "markdown_inline.h"
#include "markdown_text.h"

static void check_text(const char *page, size_t width, const char *expected)
{
    const struct ml_style style = {.width = width};
    struct ml_buf out = {0};

    assert_int_equal(ml_markdown_text(page, &style, &out), 0);
    assert_string_equal(out.data ? (char *)out.data : "", expected);
    ml_buf_release(&out);
}

static void check_inline(const char *text, const char *expected)
{
    struct ml_buf out = {0};

    assert_int_equal(ml_markdown_inline(text, strlen(text), &out), 0);
    assert_string_equal(out.data ? (char *)out.data : "", expected);
    ml_buf_release(&out);
}

static void marks_go_and_text_stays(void **state)
{
    (void)state;
    check_inline("a `b *c*` **d** *e* f", "a b *c* d e f");
    check_inline("2 * 3, 2*3 and a\\*b", "2 * 3, 2*3 and a*b");
    check_inline("snake_case, a lone ` and [brackets]", "snake_case, a lone ` and [brackets]");
    check_inline("![two bars](x.svg)", "[picture: two bars]");
    check_inline("", "");
}

static void links_lead_to_topics(void **state)
{
    (void)state;
    check_inline("see [sampling](../sampling.md#rates).", "see memledger help sampling.");
    check_inline("see [api.md](api.md)", "see memledger help api");
    check_inline("[why](summary.md#memory)", "why (memledger help summary)");
    check_inline("[`memledger leaks`](leaks.md)", "memledger leaks");
    check_inline("[below](#memory), [README](../README.md)", "below, README");
    check_inline("[a](https://x.org/b_(c)) d", "a (https://x.org/b_(c)) d");
    check_inline("[no link] (x.md) [open](x.md", "[no link] (x.md) [open](x.md");
}

static void paragraphs_and_lists_are_wrapped(void **state)
{
    (void)state;
    check_text("# A `title`\n\nOne two\nthree four.\n\n\n- five six seven\n  eight\n- nine\n", 16,
               "A title\n\nOne two three\nfour.\n\n- five six seven\n  eight\n- nine\n");
    check_text("1. a b c d\n\n   e f\n\ng\n", 7, "1. a b\n   c d\n\n   e f\n\ng\n");
}

static void code_is_indented_and_never_wrapped(void **state)
{
    (void)state;
    check_text("a:\n\n    $ a long line of code\n\nb\n", 8,
               "a:\n\n    $ a long line of code\n\nb\n");
    check_text("```\n# no title\n\n| no table |\n```\nb\n", 8,
               "    # no title\n\n    | no table |\nb\n");
    check_text("```\nnever closed", 8, "    never closed\n");
}

/* The wider column gives more, so that the words of the other stay whole. */
static void words_break_at_punctuation(void **state)
{
    (void)state;
    check_text("| a | b |\n|---|---|\n| one two three four | tbd-analysis |\n", 22,
               "a         b\n"
               "--------  ------------\n"
               "one two   tbd-analysis\n"
               "three\n"
               "four\n");
    check_text("| a | b |\n|---|---|\n| torch.profiler | torch_profiler |\n", 20,
               "a          b\n"
               "---------  ---------\n"
               "torch.     torch_\n"
               "profiler   profiler\n");
}

static void tables_are_aligned_and_wrapped(void **state)
{
    (void)state;
    check_text("| a | meaning |\n|---|---|\n| `x\\|y` | one two |\n", 0,
               "a    meaning\n---  -------\nx|y  one two\n");
    check_text("| a | meaning |\n|---|---|\n| x | one two three four |\n| y |\n", 15,
               "a  meaning\n-  ------------\nx  one two\n   three four\ny\n");
    check_text("| a |\n|---|\n| averylongwordindeed |\n", 10,
               "a\n----------\naverylongw\nordindeed\n");
    check_text("|\n", 10, "");
    check_text("- text:\n\n  | a | b |\n  |---|---|\n  | x | one two three |\n\n  more\n", 14,
               "- text:\n\n  a  b\n  -  ---------\n  x  one two\n     three\n\n  more\n");
    check_text("- text\n  | a |\n  |---|\n", 0, "- text\n  a\n  -\n");
    check_text("text:\n\n    | code |\n", 0, "text:\n\n    | code |\n");
}

static void headings_are_bold_in_colour(void **state)
{
    const struct ml_style style = {.width = 40, .colour = true};
    struct ml_buf out = {0};

    (void)state;
    assert_int_equal(ml_markdown_text("## Title\n", &style, &out), 0);
    assert_string_equal((char *)out.data, "\033[1mTitle\033[0m\n");
    ml_buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(marks_go_and_text_stays),
        cmocka_unit_test(links_lead_to_topics),
        cmocka_unit_test(paragraphs_and_lists_are_wrapped),
        cmocka_unit_test(code_is_indented_and_never_wrapped),
        cmocka_unit_test(tables_are_aligned_and_wrapped),
        cmocka_unit_test(words_break_at_punctuation),
        cmocka_unit_test(headings_are_bold_in_colour),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
