/* test_format_sampled.c: estimates of sampled blocks, and back.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "sampled.h"

static void estimates_follow_the_chance(void **state)
{
    const uint64_t mean = ML_SAMPLE_BYTES_DEFAULT;

    (void)state;
    assert_int_equal(ml_sample_estimate(0, mean), mean);
    assert_int_equal(ml_sample_estimate(16, mean), mean + 8);
    /* 1 / (1 - 1/e) */
    assert_int_equal(ml_sample_estimate(mean, mean), 829411);
    assert_int_equal(ml_sample_estimate(100 * mean, mean), 100 * mean);
    assert_int_equal(ml_sample_estimate(1000, 1), 1000);
}

static void sizes_come_back(void **state)
{
    static const uint64_t means[] = {1, 64, 4096, ML_SAMPLE_BYTES_DEFAULT, ML_SAMPLE_BYTES_MAX};

    (void)state;
    for (size_t i = 0; i < 5; i++) {
        for (uint64_t size = 1; size < UINT64_C(1) << 45; size += size / 3 + 1) {
            uint64_t back = ml_sample_size(ml_sample_estimate(size, means[i]), means[i]);

            assert_true(back >= size - 1 && back <= size + 1);
        }
    }
    assert_int_equal(ml_sample_size(0, 4096), 0);
    assert_int_equal(ml_sample_size(UINT64_C(1) << 50, 4096), UINT64_C(1) << 50);
}

static void variances_vanish_for_certain_blocks(void **state)
{
    const uint64_t mean = 4096;
    uint64_t small = ml_sample_estimate(100, mean), certain = 100 * mean;
    double chance = -expm1(-100.0 / 4096);

    (void)state;
    assert_true(fabs(ml_sample_weight(small, mean) - 1 / chance) < 0.02 / chance);
    assert_true(ml_sample_variance(certain, mean) < 1);
    assert_true(fabs(ml_sample_variance(small, mean) / ((1 - chance) * (double)(small * small)) -
                     1) < 0.02);
    assert_true(ml_sample_count_variance(certain, mean) < 1e-6);
    assert_true(fabs(ml_sample_count_variance(small, mean) * chance * chance / (1 - chance) - 1) <
                0.04);
}

/* The chance of n points where `expected` are expected. */
static double poisson(int n, double expected)
{
    return exp(n * log(expected) - expected - lgamma(n + 1.0));
}

/* Small blocks of so many bytes in all, as a multiple of the mean: how likely the truth is within
 * twice the error of the estimate. */
static double coverage(double expected)
{
    double covered = 0;

    for (int n = 0; n < 1000; n++)
        if (fabs(n - expected) <= 2 * ml_sample_error(n, 1))
            covered += poisson(n, expected);
    return covered;
}

static void errors_hold_with_few_samples(void **state)
{
    (void)state;
    for (double expected = 0.01; expected < 300; expected *= 1.003)
        assert_true(coverage(expected) > 0.95);
    assert_true(fabs(ml_sample_error(400, 1) / 20 - 1) < 0.01); /* no wider where there are many */
    assert_true(ml_sample_error(-1e-9, 1) == 2); /* sums of doubles may end below 0 */
    assert_true(ml_sample_count_error(0, 100, 320) == 200);
    assert_true(ml_sample_count_error(0, 1, 320) == 20); /* of blocks that were not sampled */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(estimates_follow_the_chance),
        cmocka_unit_test(sizes_come_back),
        cmocka_unit_test(variances_vanish_for_certain_blocks),
        cmocka_unit_test(errors_hold_with_few_samples),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
