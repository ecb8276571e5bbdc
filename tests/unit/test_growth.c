/* test_growth.c: when memory counts as grown.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "growth.h"

#define HOUR 3600

/* One sample of a process, in seconds and megabytes. @return whether that is growth */
static bool feed_bits(struct ml_growth *g, uint64_t s, uint64_t device, uint64_t bits, uint64_t mb)
{
    struct ml_event e = {.kind = ML_SAMPLE,
                         .time_ns = s * 1000000000,
                         .args = {device, ML_SAMPLE_BY_PROCESS | bits, 0, 0, 0, mb * 1000000}};
    bool grown;

    ml_growth_sample(g, &e);
    grown = g->grown;
    g->grown = false;
    return grown;
}

static bool feed(struct ml_growth *g, uint64_t s, uint64_t device, uint64_t process, uint64_t mb)
{
    return feed_bits(g, s, device, (process + 1) << ML_SAMPLE_PROCESS_SHIFT, mb);
}

static struct ml_growth tenth_in_an_hour(void)
{
    return (struct ml_growth){.limit = {0.1, HOUR * UINT64_C(1000000000)}};
}

/* The start does not count, a plateau is no growth, and what grows is noticed once an hour. */
static void test_steady_growth(void **state)
{
    struct ml_growth g = tenth_in_an_hour();
    unsigned noticed = 0;

    (void)state;
    for (uint64_t s = 0; s < 3 * HOUR; s += 10)
        assert_false(feed(&g, s, 1, 0, s < HOUR ? s : HOUR));
    for (uint64_t s = 3 * HOUR; s < 6 * HOUR; s += 10)
        noticed += feed(&g, s, 1, 0, HOUR + (s - 3 * HOUR));
    assert_in_range(noticed, 2, 3);
    ml_growth_release(&g);
}

/* Less than the share, however long. */
static void test_slow_growth(void **state)
{
    struct ml_growth g = tenth_in_an_hour();

    (void)state;
    for (uint64_t s = 0; s < 24 * HOUR; s += 10)
        assert_false(feed(&g, s, 1, 0, 100000 + s));
    ml_growth_release(&g);
}

/* Processes of one device add up, devices do not; a process that has ended no longer counts. */
static void test_sums(void **state)
{
    struct ml_growth g = tenth_in_an_hour();
    unsigned noticed = 0;

    (void)state;
    for (uint64_t s = 0; s < 3 * HOUR; s += 10) {
        assert_false(feed(&g, s, 1, 0, 1000));
        assert_false(feed(&g, s + 1, 1, 1, 1000));
        assert_false(feed(&g, s + 2, 2, 0, 50));
    }
    ml_growth_forget(&g, 1);
    for (uint64_t s = 3 * HOUR; s < 5 * HOUR; s += 10)
        assert_false(feed(&g, s, 1, 0, 1080));
    for (uint64_t s = 5 * HOUR; s < 6 * HOUR; s += 10)
        noticed += feed(&g, s, 2, 0, 60);
    assert_int_equal(noticed, 1);
    ml_growth_release(&g);
}

/* A process with a limit on its address space grows as others do; its share of pages that several
 * processes use is another figure. */
static void test_kinds_of_samples(void **state)
{
    struct ml_growth g = tenth_in_an_hour();
    const uint64_t process = UINT64_C(1) << ML_SAMPLE_PROCESS_SHIFT;
    unsigned noticed = 0;

    (void)state;
    for (uint64_t s = 0; s < 3 * HOUR; s += 10) {
        noticed += feed_bits(&g, s, 1, process | ML_SAMPLE_ADDRESSES, 1000 + s);
        noticed += feed_bits(&g, s, 2, process | ML_SAMPLE_SHARE, 1000 + s);
    }
    assert_in_range(noticed, 1, 2);
    assert_int_equal(g.devices.len, 1);
    ml_growth_release(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steady_growth),
        cmocka_unit_test(test_slow_growth),
        cmocka_unit_test(test_kinds_of_samples),
        cmocka_unit_test(test_sums),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
