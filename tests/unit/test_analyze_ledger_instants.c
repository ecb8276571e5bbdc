/* test_analyze_ledger_instants.c: when a book is opened, and by which figure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_analyze_books.h"

/* ---- The instant ------------------------------------------------------- */

/* Time of the sample that was chosen, and what was in the book then. */
static void assert_instant(struct fixture *f, enum ml_at_kind at, uint64_t time_ns,
                           uint64_t expected_ns, int64_t explained)
{
    struct ml_ledger ledger = book_at(f, at, time_ns);

    assert_true(ledger.devices.items[0].sampled);
    assert_int_equal(ledger.devices.items[0].at_ns, expected_ns);
    assert_int_equal(ledger.devices.items[0].book.bytes, explained);
    ml_ledger_release(&ledger);
}

static struct fixture steps(uint64_t bits_at_30, uint64_t bits_at_50)
{
    struct fixture f = fixture_begin();
    uint32_t memory = driver_space(&f, ML_CUDA_MEMORY);

    fixture_alloc(&f, memory, 0x10000, 100); /* at 0 */
    sample(&f, 0, 100);                      /* 10 */
    fixture_alloc(&f, memory, 0x20000, 50);  /* 20 */
    sample(&f, bits_at_30, 150);             /* 30 */
    fixture_alloc(&f, memory, 0x30000, 7);   /* 40 */
    sample(&f, bits_at_50, 150);             /* 50 */
    fixture_free(&f, memory, 0x10000);       /* 60 */
    sample(&f, 0, 57);                       /* 70 */
    end_process(&f, 0);                      /* 80 */
    sample(&f, 0, 2);                        /* 90 */
    return f;
}

static void the_peak_is_the_first_of_the_highest(void **state)
{
    struct fixture f = steps(0, 0);

    (void)state;
    assert_instant(&f, ML_AT_PEAK, 0, 30, 150);
}

static void the_peak_is_rather_read_inside(void **state)
{
    struct fixture f = steps(0, ML_SAMPLE_INSIDE);

    (void)state;
    assert_instant(&f, ML_AT_PEAK, 0, 50, 157);
    f = steps(ML_SAMPLE_INSIDE, ML_SAMPLE_INSIDE);
    assert_instant(&f, ML_AT_PEAK, 0, 30, 150);
}

static void the_end_is_the_last_word_of_the_program(void **state)
{
    struct fixture f = steps(ML_SAMPLE_INSIDE | ML_SAMPLE_LAST, ML_SAMPLE_INSIDE);

    (void)state;
    assert_instant(&f, ML_AT_END, 0, 30, 150);
    f = steps(ML_SAMPLE_INSIDE, ML_SAMPLE_INSIDE);
    assert_instant(&f, ML_AT_END, 0, 50, 157);
    f = steps(0, 0);
    assert_instant(&f, ML_AT_END, 0, 70, 57); /* not 90: the process has ended */
}

static void a_process_that_never_ended_has_the_last_sample(void **state)
{
    struct fixture f = two_processes();

    (void)state;
    sample(&f, 0, 130);
    end_process(&f, 0);
    sample(&f, 0, 30); /* at 40 */
    assert_instant(&f, ML_AT_END, 0, 40, 30);
}

static void a_time_means_the_last_sample_before_it(void **state)
{
    struct fixture f = steps(0, 0);

    (void)state;
    assert_instant(&f, ML_AT_TIME, 49, 30, 150);
    f = steps(0, 0);
    assert_instant(&f, ML_AT_TIME, 50, 50, 157);
}

/* 100 bytes at 0, the last word at 10, `used` at 20, the end at 30. */
static struct fixture leaving(uint64_t used)
{
    struct fixture f = fixture_begin();

    fixture_alloc(&f, driver_space(&f, ML_CUDA_MEMORY), 0x10000, 100);
    sample(&f, ML_SAMPLE_INSIDE | ML_SAMPLE_LAST, 105);
    sample(&f, 0, used);
    end_process(&f, 0);
    return f;
}

static void assert_time(struct fixture *f, uint64_t time_ns, bool sampled, int64_t explained,
                        uint64_t ended_ns)
{
    struct ml_ledger ledger = book_at(f, ML_AT_TIME, time_ns);

    assert_int_equal(ledger.devices.items[0].sampled, sampled);
    assert_int_equal(ledger.devices.items[0].book.bytes, explained);
    assert_int_equal(ledger.devices.items[0].ended_ns, ended_ns);
    ml_ledger_release(&ledger);
}

static void after_the_end_the_book_is_empty(void **state)
{
    struct fixture f = leaving(5);

    (void)state;
    assert_time(&f, 15, true, 100, 0);
    f = leaving(5);
    assert_time(&f, 25, true, 0, 0); /* the driver has taken it back already */
    f = leaving(60);
    assert_time(&f, 25, true, 100, 0); /* a part of it */
    f = leaving(5);
    assert_time(&f, 30, true, 0, 30);
    f = leaving(105);
    assert_time(&f, 30, false, 0, 30); /* of the time after nothing is known */
}

static void a_time_after_the_run_is_told(void **state)
{
    struct fixture f = leaving(5);
    struct ml_ledger ledger = book_at(&f, ML_AT_TIME, 1000);

    (void)state;
    assert_int_equal(ledger.run_ended_ns, 30);
    assert_int_equal(ledger.devices.items[0].at_ns, 30);
    assert_balanced(&ledger, 5);
    ml_ledger_release(&ledger);
}

/* Readings inside at 10 and 60; at 30 one of the collector's, with too much. */
static struct fixture within_a_call(uint64_t used)
{
    struct fixture f = fixture_begin();
    uint32_t memory = driver_space(&f, ML_CUDA_MEMORY);

    fixture_alloc(&f, memory, 0x10000, 1000);
    sample(&f, ML_SAMPLE_INSIDE, 1000);
    fixture_alloc(&f, memory, 0x20000, 0);
    sample(&f, 0, used);
    fixture_alloc(&f, memory, 0x20000, 500);
    fixture_alloc(&f, memory, 0x30000, 0);
    sample(&f, ML_SAMPLE_INSIDE, 1500);
    return f;
}

static void assert_between(struct fixture f, uint64_t time_ns, uint64_t expected_ns)
{
    struct ml_ledger ledger = book_at(&f, ML_AT_TIME, time_ns);

    assert_int_equal(ledger.devices.items[0].between_ns, expected_ns);
    ml_ledger_release(&ledger);
}

static void within_a_call_the_nearest_reading_between_two_is_named(void **state)
{
    (void)state;
    assert_between(within_a_call(1500), 35, 10);
    assert_between(within_a_call(1000), 35, 0);
    assert_between(within_a_call(1500), 15, 0);
    assert_between(within_a_call(1500), 60, 0);
}

static void at_the_same_time_the_one_inside_counts(void **state)
{
    struct fixture f = fixture_begin();
    uint32_t memory = driver_space(&f, ML_CUDA_MEMORY);
    struct ml_ledger ledger;

    (void)state;
    fixture_alloc(&f, memory, 0x10000, 100);
    sample(&f, ML_SAMPLE_INSIDE, 100);
    f.time_ns = 10;
    sample(&f, 0, 999);
    ledger = book_at(&f, ML_AT_TIME, 10);
    assert_balanced(&ledger, 0);
    ml_ledger_release(&ledger);
}

static void without_samples_no_remainder_is_claimed(void **state)
{
    static const struct {
        enum ml_at_kind at;
        uint64_t time_ns, expected_ns;
        int64_t bytes;
    } cases[] = {{ML_AT_PEAK, 0, 10, 150}, {ML_AT_END, 0, 30, 50}, {ML_AT_TIME, 5, 5, 100}};

    (void)state;
    for (size_t i = 0; i < ML_ARRAY_SIZE(cases); i++) {
        struct fixture f = fixture_begin();
        uint32_t memory = driver_space(&f, ML_CUDA_MEMORY);
        struct ml_ledger ledger;

        fixture_alloc(&f, memory, 0x10000, 100);
        fixture_alloc(&f, memory, 0x20000, 50);
        fixture_free(&f, memory, 0x10000);
        end_process(&f, 0);
        ledger = book_at(&f, cases[i].at, cases[i].time_ns);
        assert_false(ledger.devices.items[0].sampled);
        assert_false(ledger.devices.items[0].balanced);
        assert_int_equal(ledger.devices.items[0].at_ns, cases[i].expected_ns);
        assert_entry(&ledger, "driver allocations", cases[i].bytes);
        assert_int_equal(ledger.devices.items[0].unexplained_bytes, 0);
        ml_ledger_release(&ledger);
    }
}

static void a_time_before_all_samples_has_none(void **state)
{
    struct fixture f = steps(0, 0);
    struct ml_ledger ledger = book_at(&f, ML_AT_TIME, 5);

    (void)state;
    assert_false(ledger.devices.items[0].sampled);
    assert_entry(&ledger, "driver allocations", 100);
    ml_ledger_release(&ledger);
}

/* ---- The moment -------------------------------------------------------- */

/* A driver allocation that is sampled at 10, and the blocks that come to lie in
 * it: 0x100 at 20, 0x300 more at 30; 0x300 are gone at 40. */
static struct fixture reports(uint64_t bits, uint32_t *ret_memory, uint32_t *ret_tensors)
{
    struct fixture f = fixture_begin();

    *ret_memory = driver_space(&f, ML_CUDA_MEMORY);
    *ret_tensors = space_on(&f, 0, "cuda:0", MEMLEDGER_BLOCK, "tensors");
    fixture_alloc(&f, *ret_memory, 0x10000, 0x1000);
    sample(&f, bits, 0x1000);
    fixture_alloc(&f, *ret_tensors, 0x10000, 0x100);
    fixture_alloc(&f, *ret_tensors, 0x10100, 0x300);
    fixture_free(&f, *ret_tensors, 0x10100);
    return f;
}

static void assert_moment(struct fixture *f, enum ml_at_kind at, uint64_t time_ns,
                          uint64_t sample_ns, uint64_t at_ns, int64_t blocks)
{
    struct ml_ledger ledger = book_at(f, at, time_ns);
    const struct ml_ledger_entry *slack = find(&ledger, "blocks/slack");

    assert_true(ledger.devices.items[0].sampled);
    assert_int_equal(ledger.devices.items[0].sample_ns, sample_ns);
    assert_int_equal(ledger.devices.items[0].at_ns, at_ns);
    assert_int_equal(slack ? 0x1000 - slack->bytes : 0, blocks);
    assert_balanced(&ledger, 0);
    ml_ledger_release(&ledger);
}

static void the_peak_is_opened_where_most_blocks_are_reported(void **state)
{
    uint32_t memory, tensors;
    struct fixture f = reports(ML_SAMPLE_INSIDE, &memory, &tensors);

    (void)state;
    sample(&f, ML_SAMPLE_INSIDE, 0x1000); /* the same: the figure holds */
    fixture_alloc(&f, tensors, 0x10200, 0x380);
    assert_moment(&f, ML_AT_PEAK, 0, 10, 60, 0x480);
    f = reports(ML_SAMPLE_INSIDE, &memory, &tensors);
    assert_moment(&f, ML_AT_PEAK, 0, 10, 30, 0x400);
}

/* At 10 and at 60, with a driver's call between them. */
static void of_equal_peaks_the_one_with_most_blocks_counts(void **state)
{
    (void)state;
    for (int more = 0; more < 2; more++) {
        uint32_t memory, tensors;
        struct fixture f = reports(ML_SAMPLE_INSIDE, &memory, &tensors);

        fixture_alloc(&f, memory, 0x30000, 0);
        sample(&f, ML_SAMPLE_INSIDE, 0x1000);
        fixture_alloc(&f, tensors, 0x10200, more ? 0x380 : 0x200); /* at 70 */
        assert_moment(&f, ML_AT_PEAK, 0, more ? 60 : 10, more ? 70 : 30, more ? 0x480 : 0x400);
    }
}

/* Each of these at 50 ends what the sample at 10 says: 0x600 more at 60 are of
 * another time. */
static void a_figure_holds_until_the_driver_gives_or_takes(void **state)
{
    (void)state;
    for (int how = 0; how < 4; how++) {
        uint32_t memory, tensors;
        struct fixture f = reports(0, &memory, &tensors);

        if (how == 0)
            fixture_alloc(&f, driver_space(&f, ML_CUDA_ROUNDING), 1, 5);
        else if (how == 1)
            fixture_free(&f, memory, 0x10000);
        else if (how == 2)
            sample(&f, 0, 0xfff);
        else
            end_process(&f, 0);
        fixture_alloc(&f, tensors, 0x10200, 0x600);
        assert_moment(&f, ML_AT_PEAK, 0, 10, 30, 0x400);
    }
}

static void what_happens_on_another_device_ends_nothing(void **state)
{
    uint32_t memory, tensors;
    struct fixture f = reports(0, &memory, &tensors);
    struct ml_ledger ledger;

    (void)state;
    fixture_alloc(&f, space_on(&f, 0, "cuda:1", MEMLEDGER_DRIVER, ML_CUDA_MEMORY), 1, 5);
    sample_on(&f, "cuda:1", KNOWN, 5);
    fixture_alloc(&f, tensors, 0x10200, 0x600);
    ledger = book_at(&f, ML_AT_PEAK, 0);
    assert_int_equal(ledger.devices.items[0].at_ns, 70);
    assert_int_equal(ledger.devices.items[1].at_ns, 60);
    ml_ledger_release(&ledger);
}

static void the_end_has_what_is_left(void **state)
{
    uint32_t memory, tensors;
    struct fixture f = reports(ML_SAMPLE_INSIDE, &memory, &tensors);

    (void)state;
    end_process(&f, 0);
    assert_moment(&f, ML_AT_END, 0, 10, 40, 0x100);
    f = reports(ML_SAMPLE_INSIDE | ML_SAMPLE_LAST, &memory,
                &tensors); /* all after it is the exit's doing */
    end_process(&f, 0);
    assert_moment(&f, ML_AT_END, 0, 10, 10, 0);
    f = reports(0, &memory, &tensors);
    assert_moment(&f, ML_AT_END, 0, 10, 40, 0x100);
}

static void a_time_is_itself_while_the_figure_holds(void **state)
{
    uint32_t memory, tensors;
    struct fixture f = reports(0, &memory, &tensors);

    (void)state;
    assert_moment(&f, ML_AT_TIME, 35, 10, 35, 0x400);
    f = reports(0, &memory, &tensors);
    fixture_alloc(&f, driver_space(&f, ML_CUDA_CONTEXT), 1, 5); /* at 50 */
    assert_moment(&f, ML_AT_TIME, 55, 10, 40, 0x100);
    f = reports(0, &memory, &tensors);
    assert_moment(&f, ML_AT_TIME, 1000, 10, 40, 0x100); /* the trace has no more */
}

static void without_samples_the_peak_waits_for_its_blocks_too(void **state)
{
    struct fixture f = fixture_begin();
    uint32_t memory = driver_space(&f, ML_CUDA_MEMORY);
    uint32_t tensors = space_on(&f, 0, "cuda:0", MEMLEDGER_BLOCK, "tensors");
    struct ml_ledger ledger;

    (void)state;
    fixture_alloc(&f, memory, 0x10000, 0x1000);
    fixture_alloc(&f, tensors, 0x10000, 0x100);
    fixture_free(&f, memory, 0x10000);
    ledger = book_at(&f, ML_AT_PEAK, 0);
    assert_false(ledger.devices.items[0].sampled);
    assert_int_equal(ledger.devices.items[0].at_ns, 10);
    assert_entry(&ledger, "blocks/slack", 0xf00);
    ml_ledger_release(&ledger);
}

/* Where only blocks are recorded each of them may have moved the figure. */
static void without_driver_calls_the_book_is_opened_at_the_sample(void **state)
{
    struct fixture f = fixture_begin();
    uint32_t tensors = space_on(&f, 0, "cuda:0", MEMLEDGER_BLOCK, "tensors");
    struct ml_ledger ledger;

    (void)state;
    fixture_alloc(&f, tensors, 0x10000, 0x100);
    sample(&f, 0, 0x100);
    fixture_alloc(&f, tensors, 0x20000, 0x100);
    ledger = book_at(&f, ML_AT_PEAK, 0);
    assert_int_equal(ledger.devices.items[0].at_ns, 10);
    assert_balanced(&ledger, 0);
    ml_ledger_release(&ledger);
}

/* The first one's last word is not the end while the second goes on. */
static void the_end_of_several_is_the_last_ones(void **state)
{
    struct fixture f = two_processes();

    (void)state;
    sample(&f, ML_SAMPLE_INSIDE | ML_SAMPLE_LAST, 130); /* at 20 */
    end_process(&f, 0);
    sample(&f, ML_SAMPLE_INSIDE, 30); /* at 40 */
    assert_instant(&f, ML_AT_END, 0, 40, 30);
}

/* A recording of a process that runs already enters its memory of before, and reads the figure;
 * what that has beyond is of other processes. */
static struct fixture attached(const char *space)
{
    struct fixture f = fixture_begin();

    sample(&f, 0, 900);                                              /* at 0 */
    fixture_alloc(&f, driver_space(&f, space), 0x1000, 500);         /* 10 */
    sample(&f, ML_SAMPLE_INSIDE, 700);                               /* 20 */
    fixture_alloc(&f, driver_space(&f, ML_CUDA_MEMORY), 0x9000, 50); /* 30 */
    sample(&f, ML_SAMPLE_INSIDE, 750);                               /* 40 */
    return f;
}

static void samples_before_older_memory_are_not_used(void **state)
{
    struct fixture f = attached(ML_CUDA_BEFORE);

    (void)state;
    assert_instant(&f, ML_AT_PEAK, 0, 40, 500 + 50 + 200);
    f = attached(ML_CUDA_BEFORE);
    assert_instant(&f, ML_AT_TIME, 25, 25, 500 + 200);
}

static void older_memory_of_all_processes_has_that_of_others(void **state)
{
    struct fixture f = attached(ML_CUDA_BEFORE_ALL);

    (void)state;
    sample(&f, ML_SAMPLE_BY_PROCESS, 750); /* others have 7 MiB */
    assert_instant(&f, ML_AT_END, 0, 50, 500 + 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_peak_is_the_first_of_the_highest),
        cmocka_unit_test(the_peak_is_rather_read_inside),
        cmocka_unit_test(the_end_is_the_last_word_of_the_program),
        cmocka_unit_test(a_process_that_never_ended_has_the_last_sample),
        cmocka_unit_test(a_time_means_the_last_sample_before_it),
        cmocka_unit_test(at_the_same_time_the_one_inside_counts),
        cmocka_unit_test(without_samples_no_remainder_is_claimed),
        cmocka_unit_test(a_time_before_all_samples_has_none),
        cmocka_unit_test(after_the_end_the_book_is_empty),
        cmocka_unit_test(a_time_after_the_run_is_told),
        cmocka_unit_test(within_a_call_the_nearest_reading_between_two_is_named),
        cmocka_unit_test(of_equal_peaks_the_one_with_most_blocks_counts),
        cmocka_unit_test(the_peak_is_opened_where_most_blocks_are_reported),
        cmocka_unit_test(a_figure_holds_until_the_driver_gives_or_takes),
        cmocka_unit_test(what_happens_on_another_device_ends_nothing),
        cmocka_unit_test(the_end_has_what_is_left),
        cmocka_unit_test(a_time_is_itself_while_the_figure_holds),
        cmocka_unit_test(without_samples_the_peak_waits_for_its_blocks_too),
        cmocka_unit_test(without_driver_calls_the_book_is_opened_at_the_sample),
        cmocka_unit_test(the_end_of_several_is_the_last_ones),
        cmocka_unit_test(samples_before_older_memory_are_not_used),
        cmocka_unit_test(older_memory_of_all_processes_has_that_of_others),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
