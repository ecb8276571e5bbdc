/* test_sample_pace.c: when samples are due, and which of them have new values.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "event.h"
#include "sample_pace.h"

#define MS UINT64_C(1000000)

static void ticks_keep_their_distance(void **state)
{
    struct ml_pace p = {.hz = 1000};
    uint64_t next = 5 * MS;

    (void)state;
    for (uint64_t i = 0; i < 100; i++) {
        /* A little late each time, which must not add up. */
        next = ml_pace_take(&p, next + 60000);
        assert_int_equal(next, 5 * MS + 60000 + (i + 1) * MS);
        next -= 60000;
    }
    assert_int_equal(p.taken, 100);
    assert_true(ml_pace_achieved_hz(&p) > 999.9 && ml_pace_achieved_hz(&p) < 1000.1);
}

static void missed_ticks_are_left_out(void **state)
{
    struct ml_pace p = {.hz = 1000};

    (void)state;
    assert_int_equal(ml_pace_take(&p, 0), 1 * MS);
    /* Three and a half periods late: the next is the fifth tick, not three at once. */
    assert_int_equal(ml_pace_take(&p, 4 * MS + MS / 2), 5 * MS);
    assert_int_equal(ml_pace_take(&p, 5 * MS), 6 * MS);
    assert_int_equal(p.taken, 3);
    assert_true(ml_pace_achieved_hz(&p) > 399 && ml_pace_achieved_hz(&p) < 401);
}

/* A period that is no whole number of nanoseconds: no drift, never the same
 * tick twice. */
static void odd_rates_do_not_drift(void **state)
{
    struct ml_pace p = {.hz = 3};
    uint64_t next = 0;

    (void)state;
    for (int i = 0; i < 3000; i++) {
        uint64_t later = ml_pace_take(&p, next);
        assert_true(later > next);
        next = later;
    }
    assert_int_equal(next, UINT64_C(1000) * 1000 * MS);
    assert_int_equal(p.taken, 3000);
}

/* Unwanted ticks do not count as delays. */
static void ticks_left_out_are_no_delay(void **state)
{
    struct ml_pace p = {.hz = 1000};
    uint64_t next = ml_pace_take(&p, 0);

    (void)state;
    for (int i = 0; i < 10; i++)
        next = ml_pace_take(&p, ml_pace_leave_out(&p, next, 9));
    assert_int_equal(p.taken, 11);
    assert_int_equal(next, 101 * MS);
    assert_true(ml_pace_achieved_hz(&p) > 999 && ml_pace_achieved_hz(&p) < 1001);
}

static void a_rate_takes_two_samples(void **state)
{
    struct ml_pace p = {.hz = 10};

    (void)state;
    assert_true(ml_pace_achieved_hz(&p) == 0);
    ml_pace_take(&p, 7);
    assert_true(ml_pace_achieved_hz(&p) == 0);
}

static void due_at_once_then_at_intervals(void **state)
{
    struct ml_due due = {0};

    (void)state;
    assert_true(ml_due(&due, 50, 100));
    assert_false(ml_due(&due, 149, 100));
    assert_true(ml_due(&due, 150, 100));
    assert_true(ml_due(&due, 900, 100));
    assert_false(ml_due(&due, 999, 100));
}

static void what_repeats_is_no_news(void **state)
{
    struct ml_sample s = {.device = 1, .bits = ML_SAMPLE_USED, .used = 10};
    struct ml_sample_last last = {0};

    (void)state;
    assert_true(ml_sample_is_news(&last, &s, 0));
    assert_false(ml_sample_is_news(&last, &s, 1 * MS));
    assert_false(ml_sample_is_news(&last, &s, 99 * MS));
    assert_true(ml_sample_is_news(&last, &s, 100 * MS));
    assert_false(ml_sample_is_news(&last, &s, 150 * MS));
    s.used = 11;
    assert_true(ml_sample_is_news(&last, &s, 151 * MS));
    s.bits |= ML_SAMPLE_FREE;
    assert_true(ml_sample_is_news(&last, &s, 152 * MS));
    s.by_process = 1;
    assert_true(ml_sample_is_news(&last, &s, 153 * MS));
    /* The interval counts from the last that was written. */
    assert_false(ml_sample_is_news(&last, &s, 252 * MS));
    assert_true(ml_sample_is_news(&last, &s, 253 * MS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ticks_keep_their_distance),
        cmocka_unit_test(missed_ticks_are_left_out),
        cmocka_unit_test(odd_rates_do_not_drift),
        cmocka_unit_test(ticks_left_out_are_no_delay),
        cmocka_unit_test(a_rate_takes_two_samples),
        cmocka_unit_test(due_at_once_then_at_intervals),
        cmocka_unit_test(what_repeats_is_no_news),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
