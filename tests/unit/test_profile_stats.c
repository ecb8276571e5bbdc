/* test_profile_stats.c: the aggregate statistics, against numbers worked out by
 * hand.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memledger/memledger.h"
#include "profile_fixture.h"
#include "ring.h"

#define HEADER "\nProfile Statistics:\n\tNote the difference in units for different entries.\n"

static int setup(void **state)
{
    fixture_setup(state);
    ml_profile_set_config(((struct fixture *)*state)->profile, "aggregate_stats", "true");
    fixture_run(*state);
    return 0;
}

static const char *table(struct fixture *f)
{
    return fixture_stats(f, false, MEMLEDGER_TABLE, MEMLEDGER_BY_TOTAL, false);
}

/* Twelve times 3.5 ms in all, as in the layout that MXNet prints. */
static void times_in_a_table(void **state)
{
    struct fixture *f = *state;
    struct ml_dict *d = &f->dict;
    uint32_t conv = ml_dict_scope(
        d, &(struct ml_dict_scope){0, MEMLEDGER_SCOPE_OPERATOR, ml_dict_cstr(d, "Convolution"), 0});

    for (int i = 0; i < 12; i++) {
        fixture_event(f, (struct ml_event){.kind = ML_PUSH, .scope = conv});
        f->now_ns += (i == 0 ? 200000 : i == 1 ? 400000 : 290000) - 1000;
        fixture_event(f, (struct ml_event){.kind = ML_POP, .scope = 0});
    }
    assert_string_equal(
        table(f), HEADER
        "operator\n"
        "=================\n"
        "Name                          Total Count        Time (ms)    Min Time (ms)    Max Time "
        "(ms)    Avg Time (ms)\n"
        "----                          -----------        ---------    -------------    "
        "-------------    -------------\n"
        "Convolution                            12           3.5000           0.2000           "
        "0.4000           0.2917\n"
        "\n");
}

static void memory_in_a_table(void **state)
{
    struct fixture *f = *state;
    uint32_t gpu = fixture_space(f, "cuda:0", MEMLEDGER_BLOCK);

    fixture_event(f, (struct ml_event){.kind = ML_ALLOC, .space = gpu, .addr = 1, .size = 4096});
    fixture_event(f, (struct ml_event){.kind = ML_ALLOC, .space = gpu, .addr = 2, .size = 1044480});
    fixture_event(f, (struct ml_event){.kind = ML_FREE, .space = gpu, .addr = 1});
    /* 4096, 1048576, 1044480: their mean is 699050.67 */
    assert_string_equal(
        table(f), HEADER
        "Device Storage\n"
        "=================\n"
        "Name                          Total Count    Min Use  (kB)    Max Use  (kB)    Avg Use  "
        "(kB)\n"
        "----                          -----------    -------------    -------------    "
        "-------------\n"
        "Memory: gpu/0                           3           4.0960        1048.5760         "
        "699.0507\n"
        "\n");
}

static void counters_in_a_table(void **state)
{
    struct fixture *f = *state;
    uint32_t counter = fixture_object(f, MEMLEDGER_COUNTER, "samples");

    fixture_duration(f, fixture_object(f, MEMLEDGER_TASK, "epoch"), 69450000);
    fixture_count(f, counter, 10);
    fixture_count(f, counter, 60);
    fixture_count(f, counter, 20);
    fixture_mark(f, "begin", "process");
    assert_string_equal(
        table(f), HEADER
        "dom\n"
        "=================\n"
        "Name                          Total Count        Time (ms)    Min Time (ms)    Max Time "
        "(ms)    Avg Time (ms)\n"
        "----                          -----------        ---------    -------------    "
        "-------------    -------------\n"
        "epoch                                   1          69.4500          69.4500          "
        "69.4500          69.4500\n"
        "\n"
        "dom\n"
        "=================\n"
        "Name                          Total Count       Last Value        Min Value        Max "
        "Value        Avg Value\n"
        "----                          -----------       ----------        ---------        "
        "---------        ---------\n"
        "samples                                 3          20.0000          10.0000          "
        "60.0000          30.0000\n"
        "\n"
        "dom,instant_marker\n"
        "=================\n"
        "Name                          Total Count        Time (ms)    Min Time (ms)    Max Time "
        "(ms)    Avg Time (ms)\n"
        "----                          -----------        ---------    -------------    "
        "-------------    -------------\n"
        "\n");
}

static void everything_as_json(void **state)
{
    struct fixture *f = *state;
    uint32_t task = fixture_object(f, MEMLEDGER_TASK, "say \"hi\"");
    uint32_t counter = fixture_object(f, MEMLEDGER_COUNTER, "n");
    uint32_t cpu = fixture_space(f, "cpu", MEMLEDGER_BLOCK);

    fixture_duration(f, task, 1500000);
    fixture_duration(f, task, 500000);
    fixture_count(f, counter, 3000000000);
    fixture_count(f, counter, 3000000001);
    fixture_event(f, (struct ml_event){.kind = ML_ALLOC, .space = cpu, .addr = 1, .size = 32});
    assert_string_equal(fixture_stats(f, false, MEMLEDGER_JSON, 0, false),
                        "{\n"
                        "  \"Time\": {\n"
                        "    \"dom\": {\n"
                        "      \"say \\\"hi\\\"\": {\n"
                        "        \"Count\": 2,\n"
                        "        \"Total\": 2,\n"
                        "        \"Min\": 0.5,\n"
                        "        \"Max\": 1.5,\n"
                        "        \"Avg\": 1\n"
                        "      }\n"
                        "    }\n"
                        "  },\n"
                        "  \"Memory\": {\n"
                        "    \"Device Storage\": {\n"
                        "      \"Memory: cpu/0\": {\n"
                        "        \"Count\": 1,\n"
                        "        \"Min\": 0.032,\n"
                        "        \"Max\": 0.032,\n"
                        "        \"Avg\": 0.032\n"
                        "      }\n"
                        "    }\n"
                        "  },\n"
                        "  \"Counter\": {\n"
                        "    \"dom\": {\n"
                        "      \"n\": {\n"
                        "        \"Count\": 2,\n"
                        "        \"Last\": 3000000001,\n"
                        "        \"Min\": 3000000000,\n"
                        "        \"Max\": 3000000001,\n"
                        "        \"Avg\": 3000000000.5\n"
                        "      }\n"
                        "    }\n"
                        "  },\n"
                        "  \"Unit\": {\n"
                        "    \"Time\": \"ms\",\n"
                        "    \"Memory\": \"kB\",\n"
                        "    \"Counter\": \"1\"\n"
                        "  }\n"
                        "}\n");
}

static void nothing_is_a_table_and_an_object(void **state)
{
    struct fixture *f = *state;

    assert_string_equal(table(f), HEADER);
    assert_has(fixture_stats(f, true, MEMLEDGER_JSON, 0, false), "\"Time\": {}");
}

/* All values above 2^31, in a category of bytes: the smallest is right. */
static void large_values_are_right(void **state)
{
    struct fixture *f = *state;
    uint32_t domain = fixture_domain(f, "Pool Memory");
    uint32_t counter = fixture_object_in(f, MEMLEDGER_COUNTER, domain, "big");

    fixture_count(f, counter, 3000000000);
    fixture_count(f, counter, 9000000000);
    assert_has(table(f),
               "big                                     2     3000000.0000     9000000.0000     "
               "6000000.0000\n");
}

static void long_and_strange_names(void **state)
{
    struct fixture *f = *state;

    fixture_duration(f, fixture_object(f, MEMLEDGER_TASK, "a name longer than 25 columns"), 1000);
    fixture_duration(f, fixture_object(f, MEMLEDGER_TASK, "gr\xc3\xbc\xc3\x9f\x1b[31m\n"), 1000);
    table(f);
    assert_has(f->text, "a name longer than 25 columns               1           0.0010 ");
    assert_has(f->text, "gr\xc3\xbc\xc3\x9f?[31m?                              1 ");
}

/* ---- Order and reset ---------------------------------------------------- */

/* The names of the rows, in their order. */
static void assert_order(struct fixture *f, int sort_by, bool ascending, const char *expected)
{
    const char *text = fixture_stats(f, false, MEMLEDGER_TABLE, sort_by, ascending);
    char order[8] = "";

    for (const char *line = strchr(text, '\n'); line; line = strchr(line + 1, '\n')) {
        if (line[1] >= 'a' && line[1] <= 'c' && line[2] == ' ')
            strncat(order, line + 1, 1);
    }
    assert_string_equal(order, expected);
}

static void five_keys_two_directions(void **state)
{
    struct fixture *f = *state;
    uint32_t a = fixture_object(f, MEMLEDGER_TASK, "a");
    uint32_t b = fixture_object(f, MEMLEDGER_TASK, "b");
    uint32_t c = fixture_object(f, MEMLEDGER_TASK, "c");

    /*      count total avg min max
     * a      3    12    4   2   8
     * b      2    14    7   5   9
     * c      1     6    6   6   6   */
    fixture_duration(f, a, 2000000);
    fixture_duration(f, a, 2000000);
    fixture_duration(f, a, 8000000);
    fixture_duration(f, b, 5000000);
    fixture_duration(f, b, 9000000);
    fixture_duration(f, c, 6000000);
    assert_order(f, MEMLEDGER_BY_TOTAL, false, "bac");
    assert_order(f, MEMLEDGER_BY_TOTAL, true, "cab");
    assert_order(f, MEMLEDGER_BY_AVG, false, "bca");
    assert_order(f, MEMLEDGER_BY_AVG, true, "acb");
    assert_order(f, MEMLEDGER_BY_MIN, false, "cba");
    assert_order(f, MEMLEDGER_BY_MIN, true, "abc");
    assert_order(f, MEMLEDGER_BY_MAX, false, "bac");
    assert_order(f, MEMLEDGER_BY_MAX, true, "cab");
    assert_order(f, MEMLEDGER_BY_COUNT, false, "abc");
    assert_order(f, MEMLEDGER_BY_COUNT, true, "cba");
}

static void equal_rows_go_by_name(void **state)
{
    struct fixture *f = *state;

    fixture_duration(f, fixture_object(f, MEMLEDGER_TASK, "b"), 1000);
    fixture_duration(f, fixture_object(f, MEMLEDGER_TASK, "a"), 1000);
    assert_order(f, MEMLEDGER_BY_TOTAL, false, "ab");
    assert_order(f, MEMLEDGER_BY_TOTAL, true, "ab");
}

static void a_reset_starts_over(void **state)
{
    struct fixture *f = *state;
    uint32_t counter = fixture_object(f, MEMLEDGER_COUNTER, "n");

    fixture_count(f, counter, 100);
    assert_has(fixture_stats(f, true, MEMLEDGER_JSON, 0, false), "\"Max\": 100");
    assert_string_equal(table(f), HEADER);
    fixture_count(f, counter, 7);
    assert_has(fixture_stats(f, false, MEMLEDGER_JSON, 0, false), "\"Max\": 7");
    assert_has(f->text, "\"Count\": 1");
}

static void without_the_setting_there_are_no_rows(void **state)
{
    struct fixture *f = *state;

    ml_profile_set_config(f->profile, "aggregate_stats", "0");
    fixture_count(f, fixture_object(f, MEMLEDGER_COUNTER, "n"), 100);
    assert_string_equal(fixture_stats(f, true, MEMLEDGER_TABLE, 0, false), HEADER);
}

static void statistics_bring_the_file_up_to_date(void **state)
{
    struct fixture *f = *state;
    uint32_t counter = fixture_object(f, MEMLEDGER_COUNTER, "n");

    ml_profile_set_config(f->profile, "continuous_dump", "0");
    fixture_count(f, counter, 1);
    table(f);
    assert_has(fixture_read(f), "{ \"n\": 1 }");
    fixture_count(f, counter, 2); /* and end nothing */
    assert_has(fixture_dump(f, true), "{ \"n\": 2 }");
}

static void too_much_text_is_an_error(void **state)
{
    struct fixture *f = *state;
    struct ml_error err = {0};
    struct ml_buf out = {0};

    for (int i = 0; i < 20000; i++) {
        char name[16];
        snprintf(name, sizeof(name), "%d", i);
        fixture_count(f, fixture_object(f, MEMLEDGER_COUNTER, name), i);
    }
    assert_int_equal(ml_profile_stats(f->profile, true, MEMLEDGER_TABLE, 0, false, &out, &err),
                     -E2BIG);
    assert_has(err.text, "can be sent");
    ml_buf_release(&out);
}

#define test(name) cmocka_unit_test_setup_teardown(name, setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        test(times_in_a_table),
        test(memory_in_a_table),
        test(counters_in_a_table),
        test(everything_as_json),
        test(nothing_is_a_table_and_an_object),
        test(large_values_are_right),
        test(long_and_strange_names),
        test(five_keys_two_directions),
        test(equal_rows_go_by_name),
        test(a_reset_starts_over),
        test(without_the_setting_there_are_no_rows),
        test(statistics_bring_the_file_up_to_date),
        test(too_much_text_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
