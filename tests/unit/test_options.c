/* test_options.c: the option table: parsing, mistakes, environment, help.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "nearest.h"
#include "options.h"

struct opts {
    bool quiet, force;
    const char *output;
    int64_t count;
    double percent;
    uint64_t size, time_ns;
    int unit, heap;
    uint64_t heap_bytes;
};

static const char *const units[] = {"auto", "B", "KiB", NULL};
static const char *const heaps[] = {"off", "malloc", "all", "sample[:BYTES]", "large:BYTES", NULL};

static const struct ml_option table[] = {
    {.name = "quiet",
     .letter = 'q',
     .type = ML_OPT_FLAG,
     .offset = offsetof(struct opts, quiet),
     .help = "say nothing"},
    {.name = "force",
     .letter = 'f',
     .type = ML_OPT_FLAG,
     .offset = offsetof(struct opts, force),
     .help = "overwrite"},
    {.name = "output",
     .letter = 'o',
     .type = ML_OPT_STRING,
     .value_name = "FILE",
     .offset = offsetof(struct opts, output),
     .help = "where to write"},
    {.name = "sample-count",
     .letter = 'n',
     .type = ML_OPT_INT,
     .value_name = "N",
     .offset = offsetof(struct opts, count),
     .help = "how many",
     .min = -5,
     .max = 100},
    {.name = "percent",
     .type = ML_OPT_NUMBER,
     .value_name = "P",
     .offset = offsetof(struct opts, percent),
     .help = "how much",
     .min = 0,
     .max = 100},
    {.name = "size",
     .type = ML_OPT_BYTES,
     .value_name = "SIZE",
     .offset = offsetof(struct opts, size),
     .help = "a size"},
    {.name = "time",
     .type = ML_OPT_DURATION,
     .value_name = "TIME",
     .offset = offsetof(struct opts, time_ns),
     .help = "a time",
     .no_env = true},
    {.name = "unit",
     .type = ML_OPT_CHOICE,
     .choices = units,
     .offset = offsetof(struct opts, unit),
     .help = "a unit"},
    {.name = "heap",
     .type = ML_OPT_OPTIONAL_CHOICE,
     .value_name = "WHAT",
     .choices = heaps,
     .offset = offsetof(struct opts, heap),
     .amount_offset = offsetof(struct opts, heap_bytes),
     .help = "the heap too"},
};

static const struct ml_verb verb = {
    .name = "test",
    .summary = "Do nothing",
    .usage = "[OPTION]... FILE...",
    .details = "More about it.",
    .options = table,
    .option_count = sizeof(table) / sizeof(table[0]),
};

#define ARGS(...)                                                                                  \
    (char *[]){"test", __VA_ARGS__, NULL},                                                         \
        (int)(sizeof((char *[]){"test", __VA_ARGS__}) / sizeof(char *))

static struct ml_error err;

static int parse(struct opts *opts, char **argv, int argc, int *first)
{
    *opts = (struct opts){.count = 42};
    err = (struct ml_error){0};
    return ml_options_parse(&verb, opts, argc, argv, first, &err);
}

static void long_and_short_forms(void **state)
{
    struct opts o;
    int first;

    (void)state;
    assert_int_equal(parse(&o, ARGS("--output=a", "--sample-count", "7", "-q"), &first), 0);
    assert_string_equal(o.output, "a");
    assert_int_equal(o.count, 7);
    assert_true(o.quiet);
    assert_false(o.force);
    assert_int_equal(first, 5);
    assert_int_equal(parse(&o, ARGS("-fqob", "-n-5"), &first), 0);
    assert_true(o.quiet && o.force);
    assert_string_equal(o.output, "b");
    assert_int_equal(o.count, -5);
    assert_int_equal(parse(&o, ARGS("-o", "c", "--out", "d"), &first), 0);
    assert_string_equal(o.output, "d");
    assert_int_equal(o.count, 42);
}

static void values_are_understood(void **state)
{
    struct opts o;
    int first;

    (void)state;
    assert_int_equal(parse(&o, ARGS("--size", "1.5KiB", "--time=20ms", "--percent", "2.5"), &first),
                     0);
    assert_int_equal(o.size, 1536);
    assert_int_equal(o.time_ns, 20000000);
    assert_true(o.percent == 2.5);
    assert_int_equal(parse(&o, ARGS("--unit", "kib"), &first), 0);
    assert_int_equal(o.unit, 2);
    assert_int_equal(parse(&o, ARGS("--heap", "x"), &first), 0);
    assert_int_equal(o.heap, 1);
    assert_int_equal(first, 2);
    assert_int_equal(parse(&o, ARGS("--heap=all"), &first), 0);
    assert_int_equal(o.heap, 2);
    assert_int_equal(parse(&o, ARGS("--heap=sample"), &first), 0);
    assert_int_equal(o.heap, 3);
    assert_int_equal(o.heap_bytes, 0);
    assert_int_equal(parse(&o, ARGS("--heap=SAMPLE:1MiB"), &first), 0);
    assert_int_equal(o.heap, 3);
    assert_int_equal(o.heap_bytes, 1 << 20);
    assert_int_equal(parse(&o, ARGS("--heap=large:4096"), &first), 0);
    assert_int_equal(o.heap, 4);
    assert_int_equal(o.heap_bytes, 4096);
    assert_int_not_equal(parse(&o, ARGS("--heap=large"), &first), 0);
    assert_non_null(strstr(err.text, "needs a size: large:BYTES"));
    assert_int_not_equal(parse(&o, ARGS("--heap=all:5"), &first), 0);
    assert_int_equal(parse(&o, ARGS("--output="), &first), 0);
    assert_string_equal(o.output, "");
}

static void operands_go_to_the_end(void **state)
{
    char *argv[] = {"test", "a", "-q", "-", "-o", "x", "b", "--", "-f", NULL};
    struct opts o;
    int first;

    (void)state;
    assert_int_equal(parse(&o, argv, 9, &first), 0);
    assert_int_equal(first, 5);
    assert_string_equal(argv[5], "a");
    assert_string_equal(argv[6], "-");
    assert_string_equal(argv[7], "b");
    assert_string_equal(argv[8], "-f");
    assert_null(argv[9]);
    assert_false(o.force);
}

static void options_first_leaves_the_rest_alone(void **state)
{
    struct ml_verb first_verb = verb;
    char *argv[] = {"test", "-q", "program", "-f", "--help", NULL};
    struct opts o = {0};
    int first;

    (void)state;
    first_verb.options_first = true;
    assert_int_equal(ml_options_parse(&first_verb, &o, 5, argv, &first, &err), 0);
    assert_int_equal(first, 2);
    assert_string_equal(argv[3], "-f");
    assert_false(o.force);
}

static void mistake(char **argv, int argc, const char *expected)
{
    struct opts o;
    int first;

    assert_int_equal(parse(&o, argv, argc, &first), -EINVAL);
    if (!strstr(err.text, expected))
        fail_msg("\"%s\" does not say \"%s\"", err.text, expected);
}

static void mistakes_are_explained(void **state)
{
    (void)state;
    mistake(ARGS("--ouput=x"), "'--ouput'; did you mean '--output'?");
    mistake(ARGS("--xyzzy"), "unknown option '--xyzzy'");
    mistake(ARGS("-x"), "unknown option '-x'");
    mistake(ARGS("--s=1"), "ambiguous: --sample-count or --size");
    mistake(ARGS("--quiet=yes"), "takes no value");
    mistake(ARGS("-o"), "-o needs a value: FILE");
    mistake(ARGS("--sample-count=101"), "from -5 to 100");
    mistake(ARGS("--sample-count=1x"), "whole number");
    mistake(ARGS("--percent=nan"), "number from 0 to 100");
    mistake(ARGS("--size=big"), "not a size");
    mistake(ARGS("--time=soon"), "not a time");
    mistake(ARGS("--unit=MB"), "not one of: auto, B, KiB");
    mistake(ARGS("--=x"), "unknown option");
}

static void the_environment_comes_first(void **state)
{
    struct opts o;
    int first;

    (void)state;
    setenv("MEMLEDGER_SAMPLE_COUNT", "9", 1);
    setenv("MEMLEDGER_QUIET", "1", 1);
    setenv("MEMLEDGER_FORCE", "no", 1);
    setenv("MEMLEDGER_OUTPUT", "", 1);
    setenv("MEMLEDGER_TIME", "never", 1); /* this option is not read from there */
    assert_int_equal(parse(&o, ARGS("x"), &first), 0);
    assert_int_equal(o.count, 9);
    assert_true(o.quiet);
    assert_false(o.force);
    assert_null(o.output);
    assert_int_equal(parse(&o, ARGS("-n3"), &first), 0);
    assert_int_equal(o.count, 3);
    setenv("MEMLEDGER_SAMPLE_COUNT", "many", 1);
    mistake(ARGS("x"), "MEMLEDGER_SAMPLE_COUNT: 'many'");
    assert_int_equal(parse(&o, ARGS("--help"), &first), ML_OPTIONS_HELP);
    unsetenv("MEMLEDGER_SAMPLE_COUNT");
    unsetenv("MEMLEDGER_QUIET");
    unsetenv("MEMLEDGER_FORCE");
    unsetenv("MEMLEDGER_OUTPUT");
    unsetenv("MEMLEDGER_TIME");
}

static void help_is_asked_for(void **state)
{
    struct opts o;
    int first;

    (void)state;
    assert_int_equal(parse(&o, ARGS("-h"), &first), ML_OPTIONS_HELP);
    assert_int_equal(parse(&o, ARGS("x", "--he", "--nonsense"), &first), -EINVAL); /* or --heap */
    assert_int_equal(parse(&o, ARGS("x", "--hel", "--nonsense"), &first), ML_OPTIONS_HELP);
    assert_int_equal(parse(&o, ARGS("-qh"), &first), ML_OPTIONS_HELP);
}

static void help_lists_every_option(void **state)
{
    struct ml_buf out;

    (void)state;
    ml_buf_init(&out);
    assert_int_equal(ml_verb_help_text(&verb, &out), 0);
    for (size_t i = 0; i < verb.option_count; i++)
        assert_non_null(strstr((char *)out.data, table[i].name));
    assert_non_null(strstr((char *)out.data, "Usage: memledger test [OPTION]... FILE..."));
    assert_non_null(strstr((char *)out.data, "-o, --output=FILE"));
    assert_non_null(strstr((char *)out.data, "--heap[=WHAT]"));
    assert_non_null(strstr((char *)out.data, "--unit=auto|B|KiB"));
    assert_non_null(strstr((char *)out.data, "-h, --help"));
    assert_non_null(strstr((char *)out.data, "MEMLEDGER_QUIET sets --quiet"));
    ml_buf_release(&out);
}

static void the_nearest_word_is_found(void **state)
{
    struct ml_nearest n = {.typed = "sumary"};

    (void)state;
    ml_nearest_offer(&n, "stats");
    assert_null(n.word);
    ml_nearest_offer(&n, "summary");
    ml_nearest_offer(&n, "summit");
    assert_string_equal(n.word, "summary");
    n = (struct ml_nearest){.typed = "polt"}; /* neighbours swapped */
    ml_nearest_offer(&n, "plot");
    assert_string_equal(n.word, "plot");
    n = (struct ml_nearest){.typed = "comp"}; /* begun, not finished */
    ml_nearest_offer(&n, "compare");
    assert_string_equal(n.word, "compare");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_and_short_forms),
        cmocka_unit_test(values_are_understood),
        cmocka_unit_test(operands_go_to_the_end),
        cmocka_unit_test(options_first_leaves_the_rest_alone),
        cmocka_unit_test(mistakes_are_explained),
        cmocka_unit_test(the_environment_comes_first),
        cmocka_unit_test(help_is_asked_for),
        cmocka_unit_test(help_lists_every_option),
        cmocka_unit_test(the_nearest_word_is_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
