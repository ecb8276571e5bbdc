/* test_analyze_ledger_killed.c: books around the end of a process that was killed: the driver
 * frees its memory a moment before or after its end is recorded.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_analyze_books.h"

/* Of two that have 100 and 30 bytes the second is killed; the driver says 4 more all along.
 * `before` samples lack its memory before its end is told, `after` have it after that. */
static struct fixture killed(int before, int after, uint64_t bits)
{
    struct fixture f = two_processes();

    sample(&f, ML_SAMPLE_INSIDE, 134); /* at 20 */
    for (int i = 0; i < before; i++)
        sample(&f, bits, 104);
    end_process(&f, 1);
    for (int i = 0; i < after; i++)
        sample(&f, bits, 134);
    return f;
}

static void assert_remainder(struct fixture *f, enum ml_at_kind at, uint64_t time_ns,
                             int64_t explained)
{
    struct ml_ledger ledger = book_at(f, at, time_ns);

    assert_true(ledger.devices.items[0].sampled);
    assert_int_equal(ledger.devices.items[0].book.bytes, explained);
    assert_balanced(&ledger, 4);
    ml_ledger_release(&ledger);
}

static void what_was_killed_is_out_of_the_book_when_the_driver_says_so(void **state)
{
    (void)state;
    for (int before = 0; before < 4; before++) {
        for (int after = 0; before + after < 4; after++) {
            uint64_t end = 30 + 10 * (uint64_t)before;
            struct fixture f = killed(before, after, 0);

            sample(&f, 0, 104);
            assert_remainder(&f, ML_AT_PEAK, 0, 130);
            for (uint64_t t = 20; t < end; t += 10) {
                f = killed(before, after, 0);
                sample(&f, 0, 104);
                assert_remainder(&f, ML_AT_TIME, t, t == 20 ? 130 : 100);
            }
            f = killed(before, after, 0);
            sample(&f, 0, 104);
            assert_remainder(&f, ML_AT_TIME, end + 10 * (uint64_t)after + 10, 100);
        }
    }
}

static void right_after_an_end_an_old_figure_is_not_used(void **state)
{
    struct fixture f = killed(0, 1, 0); /* its end at 30, the figure at 40 */
    struct ml_ledger ledger = book_at(&f, ML_AT_TIME, 40);

    (void)state;
    assert_false(ledger.devices.items[0].sampled);
    assert_int_equal(ledger.devices.items[0].book.bytes, 100);
    ml_ledger_release(&ledger);
}

/* The survivor's last word comes while the other's end is not told yet. */
static void the_last_word_goes_with_who_is_left(void **state)
{
    (void)state;
    for (int before = 1; before < 4; before++) {
        struct fixture f = killed(before, 0, ML_SAMPLE_INSIDE | ML_SAMPLE_LAST);

        end_process(&f, 0);
        assert_remainder(&f, ML_AT_END, 0, 100);
    }
}

/* Samples of the driver's work: 14 of 30 are taken back, then all. */
static void a_sample_of_a_part_is_passed_over(void **state)
{
    static const uint64_t times[] = {20, 30, 40};

    (void)state;
    for (size_t i = 0; i < ML_ARRAY_SIZE(times); i++) {
        struct fixture f = two_processes();

        sample(&f, 0, 134);
        sample(&f, ML_SAMPLE_INSIDE | ML_SAMPLE_LAST, 120);
        sample(&f, 0, 104);
        end_process(&f, 1);
        end_process(&f, 0);
        assert_remainder(&f, ML_AT_TIME, times[i], times[i] < 40 ? 130 : 100);
    }
}

/* All are killed at once: the end is where they were all there. */
static void of_those_that_are_killed_together_each_is_missed(void **state)
{
    static const struct {
        uint64_t time_ns;
        int64_t explained;
    } cases[] = {{20, 130}, {30, 30}, {40, 0}, {50, 0}, {60, 0}};

    (void)state;
    for (size_t i = 0; i <= ML_ARRAY_SIZE(cases); i++) {
        struct fixture f = two_processes();

        sample(&f, 0, 134);
        sample(&f, 0, 34);
        sample(&f, 0, 4);
        end_process(&f, 1);
        end_process(&f, 0);
        if (i < ML_ARRAY_SIZE(cases))
            assert_remainder(&f, ML_AT_TIME, cases[i].time_ns, cases[i].explained);
        else
            assert_remainder(&f, ML_AT_END, 0, 130);
    }
}

/* A figure that rises for a while, within a call of the driver, does not mean that a process ended.
 */
static void what_a_call_takes_for_a_while_is_no_end(void **state)
{
    struct fixture f = two_processes();

    (void)state;
    sample(&f, ML_SAMPLE_INSIDE, 134);
    sample(&f, 0, 164);
    sample(&f, 0, 134);
    end_process(&f, 1);
    assert_remainder(&f, ML_AT_TIME, 40, 130);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_killed_is_out_of_the_book_when_the_driver_says_so),
        cmocka_unit_test(right_after_an_end_an_old_figure_is_not_used),
        cmocka_unit_test(the_last_word_goes_with_who_is_left),
        cmocka_unit_test(a_sample_of_a_part_is_passed_over),
        cmocka_unit_test(of_those_that_are_killed_together_each_is_missed),
        cmocka_unit_test(what_a_call_takes_for_a_while_is_no_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
