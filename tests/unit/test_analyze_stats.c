/* test_analyze_stats.c: sizes, temporaries, lifetimes, and bytes over time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_analyze_fixture.h"

#include <math.h>

#include "stats.h"
#include "timeline.h"

static struct ml_stats measure(struct ml_trace *trace)
{
    struct ml_stats stats;
    struct ml_error err = {0};

    if (ml_measure(trace, &(struct ml_stats_opts){.top = 10}, &stats, &err) < 0)
        fail_msg("%s", err.text);
    return stats;
}

static void sizes_fall_into_powers_of_two(void **state)
{
    struct fixture f = fixture_begin();
    struct ml_trace *trace;
    struct ml_stats s;

    (void)state;
    fixture_alloc(&f, f.block, 0x1000, 0);
    fixture_alloc(&f, f.block, 0x2000, 1);
    fixture_alloc(&f, f.block, 0x3000, 4);
    fixture_alloc(&f, f.block, 0x4000, 7);
    trace = fixture_open(&f);
    s = measure(trace);
    assert_int_equal(s.sizes.len, 4); /* 0, 1, 2-3, 4-7 */
    assert_int_equal(s.sizes.items[0].to_bytes, 0);
    assert_int_equal(s.sizes.items[1].from_bytes, 1);
    assert_int_equal(s.sizes.items[2].allocations, 0);
    assert_int_equal(s.sizes.items[3].from_bytes, 4);
    assert_int_equal(s.sizes.items[3].to_bytes, 7);
    assert_int_equal(s.sizes.items[3].allocations, 2);
    assert_int_equal(s.sizes.items[3].allocated_bytes, 11);
    assert_true(fabs(s.sizes.items[3].percent - 50) < 1e-9);
    assert_int_equal(s.average_bytes, 3);
    assert_int_equal(s.largest_bytes, 7);
    assert_int_equal(s.largest.len, 4);
    assert_int_equal(s.largest.items[0].bytes, 7);
    ml_stats_release(&s);
    ml_trace_free(trace);
}

static void temporaries_are_freed_by_the_next_memory_event(void **state)
{
    struct fixture f = fixture_begin();
    struct ml_trace *trace;
    struct ml_stats s;

    (void)state;
    ml_maker_thread(f.maker, 0, 101, 0);
    fixture_alloc(&f, f.block, 0x1000, 10);
    fixture_label(&f, f.block, 0x1000, "x", 0); /* not a memory event */
    fixture_event(&f, (struct ml_event){        /* another thread's does not count */
                                        .kind = ML_ALLOC,
                                        .thread = 1,
                                        .space = f.block,
                                        .addr = 0x2000,
                                        .size = 20});
    fixture_free(&f, f.block, 0x1000); /* temporary */
    fixture_alloc(&f, f.block, 0x1000, 30);
    fixture_alloc(&f, f.block, 0x3000, 40);
    fixture_free(&f, f.block, 0x1000); /* not: another came in between */
    fixture_free(&f, f.block, 0x3000); /* not: it was freed after another free */
    trace = fixture_open(&f);
    s = measure(trace);
    assert_int_equal(s.temporary, 1);
    assert_int_equal(s.temporary_bytes, 10);
    assert_true(fabs(s.temporary_percent - 25) < 1e-9);
    assert_int_equal(s.threads.len, 2);
    assert_int_equal(s.threads.items[0].tid, 100);
    assert_int_equal(s.threads.items[0].temporary, 1);
    assert_int_equal(s.threads.items[0].frees, 3);
    assert_int_equal(s.threads.items[1].allocations, 1);
    ml_stats_release(&s);
    ml_trace_free(trace);
}

static void lives_are_averaged(void **state)
{
    struct fixture f = fixture_begin();
    struct ml_trace *trace;
    struct ml_stats s;

    (void)state;
    fixture_event(&f,
                  (struct ml_event){
                      .kind = ML_ALLOC, .space = f.block, .addr = 1, .size = 8, .time_ns = 100});
    fixture_event(&f,
                  (struct ml_event){
                      .kind = ML_ALLOC, .space = f.block, .addr = 2, .size = 8, .time_ns = 200});
    fixture_event(&f,
                  (struct ml_event){.kind = ML_FREE, .space = f.block, .addr = 2, .time_ns = 500});
    fixture_event(&f,
                  (struct ml_event){.kind = ML_FREE, .space = f.block, .addr = 1, .time_ns = 1000});
    trace = fixture_open(&f);
    s = measure(trace);
    assert_int_equal(s.freed, 2);
    assert_int_equal(s.average_life_ns, (300 + 900) / 2);
    assert_int_equal(s.longest_life_ns, 900);
    assert_int_equal(s.sizes.items[0].average_life_ns, 600);
    assert_true(fabs(s.events_per_second - 4e9 / 1000) < 1e-3);
    assert_int_equal(s.kinds[ML_ALLOC], 2);
    assert_int_equal(s.kinds[ML_FREE], 2);
    assert_int_equal(s.spaces.len, 1);
    assert_int_equal(s.spaces.items[0].figures.peak_bytes, 16);
    assert_int_equal(s.largest.len, 0);
    ml_stats_release(&s);
    ml_trace_free(trace);
}

static void scopes_are_ranked_twice(void **state)
{
    struct fixture f = fixture_begin();
    uint32_t often = ml_maker_scope(f.maker, 0, 0, ml_maker_string(f.maker, "often"));
    uint32_t large = ml_maker_scope(f.maker, 0, 0, ml_maker_string(f.maker, "large"));
    struct ml_trace *trace;
    struct ml_stats s;

    (void)state;
    for (uint64_t i = 0; i < 5; i++)
        fixture_event(
            &f,
            (struct ml_event){
                .kind = ML_ALLOC, .space = f.block, .scope = often, .addr = 0x1000 + i, .size = 1});
    fixture_event(
        &f, (struct ml_event){
                .kind = ML_ALLOC, .space = f.block, .scope = large, .addr = 0x2000, .size = 1000});
    trace = fixture_open(&f);
    s = measure(trace);
    assert_int_equal(s.scope_total, 2);
    assert_string_equal(s.by_count.items[0].path, "often");
    assert_int_equal(s.by_count.items[0].allocations, 5);
    assert_string_equal(s.by_bytes.items[0].path, "large");
    assert_int_equal(s.by_bytes.items[0].allocated_bytes, 1000);
    ml_stats_release(&s);
    ml_trace_free(trace);
}

/* ---- Timeline ---------------------------------------------------------- */

static struct ml_timeline draw(struct ml_trace *trace, size_t buckets, uint64_t span_ns)
{
    struct ml_timeline_opts opts = {.buckets = buckets, .span_ns = span_ns};
    struct ml_timeline timeline;
    struct ml_error err = {0};

    if (ml_timeline(trace, &opts, &timeline, &err) < 0)
        fail_msg("%s", err.text);
    return timeline;
}

static struct ml_trace *two_bumps(void)
{
    struct fixture f = fixture_begin();

    fixture_alloc(&f, f.block, 1, 10);                                    /* 0 */
    fixture_alloc(&f, f.block, 2, 90);                                    /* 10 */
    fixture_free(&f, f.block, 2);                                         /* 20 */
    fixture_event(&f, (struct ml_event){.kind = ML_PUSH, .time_ns = 99}); /* nothing */
    fixture_event(&f,
                  (struct ml_event){.kind = ML_FREE, .space = f.block, .addr = 1, .time_ns = 100});
    return fixture_open(&f);
}

static void buckets_keep_the_extremes(void **state)
{
    struct ml_trace *trace = two_bumps();
    struct ml_timeline t = draw(trace, 2, 0);

    (void)state;
    assert_int_equal(t.duration_ns, 100);
    assert_int_equal(t.peak_bytes, 100);
    assert_int_equal(t.peak_time_ns, 10);
    assert_int_equal(t.buckets.len, 2);
    assert_int_equal(t.buckets.items[0].min_bytes, 0);
    assert_int_equal(t.buckets.items[0].max_bytes, 100);
    assert_int_equal(t.buckets.items[0].last_bytes, 10);
    assert_true(t.buckets.items[0].min_first);
    assert_int_equal(t.buckets.items[1].max_bytes, 10);
    assert_int_equal(t.buckets.items[1].min_bytes, 0);
    assert_int_equal(t.buckets.items[1].last_bytes, 0);
    assert_false(t.buckets.items[1].min_first);
    ml_timeline_release(&t);
    ml_trace_free(trace);
}

static void a_short_run_fills_part_of_the_span(void **state)
{
    struct ml_trace *trace = two_bumps();
    struct ml_timeline t = draw(trace, 100, 1000);

    (void)state;
    assert_int_equal(t.buckets.len, 11); /* its last event begins the eleventh */
    assert_int_equal(t.buckets.items[5].last_bytes, 10);
    assert_int_equal(t.buckets.items[10].last_bytes, 0);
    ml_timeline_release(&t);
    ml_trace_free(trace);
}

static void a_run_longer_than_the_span_stays_in_it(void **state)
{
    struct ml_trace *trace = two_bumps();
    struct ml_timeline t = draw(trace, 4, 10);

    (void)state;
    assert_int_equal(t.buckets.len, 4);
    assert_int_equal(t.buckets.items[3].max_bytes, 100);
    ml_timeline_release(&t);
    ml_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_fall_into_powers_of_two),
        cmocka_unit_test(temporaries_are_freed_by_the_next_memory_event),
        cmocka_unit_test(lives_are_averaged),
        cmocka_unit_test(scopes_are_ranked_twice),
        cmocka_unit_test(buckets_keep_the_extremes),
        cmocka_unit_test(a_short_run_fills_part_of_the_span),
        cmocka_unit_test(a_run_longer_than_the_span_stays_in_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
