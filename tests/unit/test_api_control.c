/* test_api_control.c: what the API's calls reject, and their errors, in a process that is not
 * recorded.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "api_control.h"
#include "api_error.h"
#include "api_objects.h"
#include "compiler.h"

#define set(key, value) ml_api_set_config(1, (const char *[]){key}, (const char *[]){value})

static void assert_says(const char *part)
{
    if (!strstr(ml_api_last_error(), part))
        fail_msg("\"%s\" does not say \"%s\"", ml_api_last_error(), part);
}

static void good_settings_are_taken(void **state)
{
    const char *keys[] = {"filename", "profile_all", "dump_period"};
    const char *vals[] = {"p.json", "1", "0.1"};

    (void)state;
    assert_int_equal(ml_api_set_config(3, keys, vals), 0);
    assert_int_equal(ml_api_set_config(0, NULL, NULL), 0);
}

static void an_unknown_key_is_named(void **state)
{
    (void)state;
    assert_int_equal(set("filname", "x"), -1);
    assert_says("unknown key \"filname\"");
    assert_says("did you mean \"filename\"?");
    assert_says("aggregate_stats");
    assert_int_equal(set("something", "x"), -1);
    assert_null(strstr(ml_api_last_error(), "did you mean"));
    assert_says("profile_process");
}

static void a_bad_value_is_named(void **state)
{
    (void)state;
    assert_int_equal(set("profile_all", "maybe"), -1);
    assert_says("bad value \"maybe\" for key \"profile_all\"");
    assert_says("true, false, 1 or 0");
    assert_int_equal(set("dump_period", "0"), -1);
    assert_says("above 0");
    assert_int_equal(set("profile_process", "both"), -1);
    assert_says("worker or server");
}

static void what_is_allowed_is_seen_behind_a_long_value(void **state)
{
    static char endless[10000];

    (void)state;
    memset(endless, 'x', sizeof(endless) - 1);
    assert_int_equal(set("profile_all", endless), -1);
    assert_says("true, false, 1 or 0");
    assert_int_equal(set(endless, endless), -1);
    assert_says("profile_process");
    assert_true(strlen(ml_api_last_error()) < ML_ERROR_BYTES);
    assert_int_equal(ml_fail(endless, endless, endless, endless, endless), -1);
    assert_true(strlen(ml_api_last_error()) < ML_ERROR_BYTES);
}

static void wrong_arguments_are_refused(void **state)
{
    const char *text = NULL;

    (void)state;
    assert_int_equal(ml_api_set_config(-1, NULL, NULL), -1);
    assert_int_equal(ml_api_set_config(1, NULL, NULL), -1);
    assert_int_equal(set(NULL, "x"), -1);
    assert_int_equal(set("filename", NULL), -1);
    assert_int_equal(ml_api_set_state(2, 0), -1);
    assert_says("MEMLEDGER_RUN");
    assert_int_equal(ml_api_set_state(1, 2), -1);
    assert_says("MEMLEDGER_SERVER");
    assert_int_equal(ml_api_pause(1, -1), -1);
    assert_int_equal(ml_api_dump(1, 7), -1);
    assert_int_equal(ml_api_stats(NULL, 0, 0, 0, 0), -1);
    assert_int_equal(ml_api_stats(&text, 0, 2, 0, 0), -1);
    assert_says("MEMLEDGER_JSON");
    assert_int_equal(ml_api_stats(&text, 0, 0, 5, 0), -1);
    assert_says("count");
}

/* Without a session nothing is recorded. */
static void unrecorded_calls_do_nothing(void **state)
{
    const char *text = NULL;

    (void)state;
    assert_int_equal(ml_api_set_state(1, 0), 0);
    assert_int_equal(ml_api_pause(1, 0), 0);
    assert_int_equal(ml_api_dump(1, 0), 0);
    assert_int_equal(ml_api_stats(&text, 1, 0, 0, 0), 0);
    assert_string_equal(text, "");
    assert_int_equal(ml_api_create(MEMLEDGER_DOMAIN, 0, "d"), 0);
    assert_int_equal(ml_api_start(0), 0);
    assert_int_equal(ml_api_stop(7), 0);
    assert_int_equal(ml_api_counter_set(0, 1), 0);
    assert_int_equal(ml_api_counter_adjust(0, 1), 0);
    assert_int_equal(ml_api_marker(0, "m", "process"), 0);
    assert_int_equal(ml_api_destroy(0), 0);
}

static void errno_is_kept(void **state)
{
    (void)state;
    errno = E2BIG;
    assert_int_equal(set("no such key", "x"), -1);
    ml_api_last_error();
    assert_int_equal(set("profile_all", "1"), 0);
    ml_api_dump(1, 0);
    assert_int_equal(errno, E2BIG);
}

static void *fail_alone(void *unused)
{
    const char *before = ml_api_last_error();

    (void)unused;
    if (before[0])
        return (void *)"a thread starts with somebody else's error";
    set("thread", "x");
    return strstr(ml_api_last_error(), "unknown key \"thread\"") ? NULL : (void *)"not told";
}

/* More threads than there are entries: those of dead threads are used again. */
static void each_thread_has_its_own_error(void **state)
{
    (void)state;
    set("mine", "x");
    for (int i = 0; i < 600; i++) {
        pthread_t thread;
        void *wrong;

        assert_int_equal(pthread_create(&thread, NULL, fail_alone, NULL), 0);
        assert_int_equal(pthread_join(thread, &wrong), 0);
        if (wrong)
            fail_msg("thread %d: %s", i, (char *)wrong);
    }
    assert_says("unknown key \"mine\"");
}

static void text_grows(void **state)
{
    char *small, *large;

    (void)state;
    small = ml_thread_text(10);
    assert_non_null(small);
    strcpy(small, "123456789");
    large = ml_thread_text(1 << 20);
    assert_non_null(large);
    memset(large, 'x', 1 << 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_settings_are_taken),
        cmocka_unit_test(an_unknown_key_is_named),
        cmocka_unit_test(a_bad_value_is_named),
        cmocka_unit_test(what_is_allowed_is_seen_behind_a_long_value),
        cmocka_unit_test(wrong_arguments_are_refused),
        cmocka_unit_test(unrecorded_calls_do_nothing),
        cmocka_unit_test(errno_is_kept),
        cmocka_unit_test(each_thread_has_its_own_error),
        cmocka_unit_test(text_grows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
