/* test_config_keys.c: the settings of format/config_keys.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "compiler.h"
#include "config_keys.h"

static void every_key_has_its_default(void **state)
{
    static const char *const defaults[][2] = {
        {"profile_all", "false"},
        {"profile_symbolic", "true"},
        {"profile_imperative", "true"},
        {"profile_memory", "true"},
        {"profile_api", "true"},
        {"filename", "profile.json"},
        {"gpu_memory_profile_filename_prefix", "gpu_memory_profile"},
        {"continuous_dump", "true"},
        {"dump_period", "1.0"},
        {"aggregate_stats", "false"},
        {"profile_process", "worker"},
    };

    (void)state;
    assert_int_equal(ML_ARRAY_SIZE(defaults), ML_CONFIG_KEYS);
    for (size_t i = 0; i < ML_ARRAY_SIZE(defaults); i++) {
        int key = ml_config_find(defaults[i][0]);
        assert_int_not_equal(key, -1);
        assert_string_equal(ml_config_keys[key].default_value, defaults[i][1]);
        assert_string_equal(ml_config_check((enum ml_config_key)key, defaults[i][1]),
                            defaults[i][1]);
    }
    assert_int_equal(ml_config_find("Filename"), -1);
    assert_int_equal(ml_config_find(""), -1);
}

static void the_list_names_every_key(void **state)
{
    char expected[512] = "";

    (void)state;
    for (int i = 0; i < ML_CONFIG_KEYS; i++) {
        strcat(expected, i ? ", " : "");
        strcat(expected, ml_config_keys[i].name);
    }
    assert_string_equal(ml_config_names, expected);
}

static void check_values(enum ml_config_key key, const char *const *good, const char *const *bad)
{
    for (; *good; good += 2) {
        const char *spelled = ml_config_check(key, good[0]);
        assert_non_null(spelled);
        assert_string_equal(spelled, good[1]);
    }
    for (; *bad; bad++)
        assert_null(ml_config_check(key, *bad));
}

static void truth_is_spelled_in_four_ways(void **state)
{
    static const char *const good[] = {"true",  "true",  "TRUE", "true",  "tRuE",
                                       "true",  "1",     "true", "false", "false",
                                       "False", "false", "0",    "false", NULL};
    static const char *const bad[] = {"",    "yes", "on", "2",  "01",   "truee",
                                      "tru", " 1",  "1 ", "-1", "null", NULL};

    (void)state;
    check_values(ML_CONFIG_PROFILE_MEMORY, good, bad);
    check_values(ML_CONFIG_AGGREGATE_STATS, good, bad);
}

static void a_period_is_above_zero(void **state)
{
    static const char *const good[] = {"1",    "1",    "0.5",  "0.5",  ".5",    ".5",    "2.", "2.",
                                       "1e-3", "1e-3", "1E+3", "1E+3", "+0.25", "+0.25", NULL};
    static const char *const bad[] = {
        "",    "0",   "0.0", "-1",  "0e5", ".",    "e5",    "1e",
        "inf", "nan", "0x1", "1,5", "1 s", "1.5s", "1.2.3", "1000000000000000000000000000000000",
        NULL};

    (void)state;
    check_values(ML_CONFIG_DUMP_PERIOD, good, bad);
}

static void a_process_is_worker_or_server(void **state)
{
    static const char *const good[] = {"worker", "worker", "server", "server", NULL};
    static const char *const bad[] = {"", "Worker", "scheduler", "0", NULL};

    (void)state;
    check_values(ML_CONFIG_PROFILE_PROCESS, good, bad);
}

static void a_name_is_neither_empty_nor_endless(void **state)
{
    char longest[1025];

    (void)state;
    memset(longest, 'x', sizeof(longest));
    longest[1023] = '\0';
    assert_ptr_equal(ml_config_check(ML_CONFIG_FILENAME, longest), longest);
    longest[1023] = 'x';
    longest[1024] = '\0';
    assert_null(ml_config_check(ML_CONFIG_FILENAME, longest));
    assert_null(ml_config_check(ML_CONFIG_FILENAME, ""));
    assert_non_null(ml_config_check(ML_CONFIG_GPU_MEMORY_PREFIX, "a b\n"));
}

static void slips_are_recognised(void **state)
{
    static const struct {
        const char *typed;
        int meant;
    } slips[] = {
        {"filname", ML_CONFIG_FILENAME},
        {"Filename", ML_CONFIG_FILENAME},
        {"file_name", ML_CONFIG_FILENAME},
        {"profile_al", ML_CONFIG_PROFILE_ALL},
        {"profile_apis", ML_CONFIG_PROFILE_API},
        {"proflie_memory", ML_CONFIG_PROFILE_MEMORY},
        {"aggregate", ML_CONFIG_AGGREGATE_STATS},
        {"dump_perod", ML_CONFIG_DUMP_PERIOD},
        {"continous_dump", ML_CONFIG_CONTINUOUS_DUMP},
        {"gpu_memory", ML_CONFIG_GPU_MEMORY_PREFIX},
        {"quite something else", -1},
        {"", -1},
        {"x", -1},
    };

    (void)state;
    for (size_t i = 0; i < ML_ARRAY_SIZE(slips); i++)
        assert_int_equal(ml_config_nearest(slips[i].typed), slips[i].meant);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_has_its_default),
        cmocka_unit_test(the_list_names_every_key),
        cmocka_unit_test(truth_is_spelled_in_four_ways),
        cmocka_unit_test(a_period_is_above_zero),
        cmocka_unit_test(a_process_is_worker_or_server),
        cmocka_unit_test(a_name_is_neither_empty_nor_endless),
        cmocka_unit_test(slips_are_recognised),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
