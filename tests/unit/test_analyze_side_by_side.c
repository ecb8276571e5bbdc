/* test_analyze_side_by_side.c: traces of different kinds compared: the level at which devices
 * are counted, and the figures by which runs without allocations are compared.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_analyze_fixture.h"

#include <errno.h>

#include "compare.h"
#include "timeline.h"

static struct ml_error err;

/* 1000 bytes of the driver, and where asked for 100 of them in a block. */
static struct ml_trace *gpu_trace(bool with_blocks)
{
    struct fixture f = fixture_begin();
    uint32_t gpu = ml_maker_string(f.maker, "cuda:0");
    uint32_t name = ml_maker_string(f.maker, "memory");
    uint32_t driver = ml_maker_space(f.maker, 0, gpu, MEMLEDGER_DRIVER, name);

    fixture_alloc(&f, driver, 0x1000, 1000);
    if (with_blocks)
        fixture_alloc(&f, ml_maker_space(f.maker, 0, gpu, MEMLEDGER_BLOCK, name), 0x1000, 100);
    return fixture_open(&f);
}

static struct ml_trace *host_trace(void)
{
    struct fixture f = fixture_begin();

    fixture_alloc(&f, f.block, 0x1000, 7);
    return fixture_open(&f);
}

static struct ml_trace *sampled_trace(uint64_t gpu_bytes, uint64_t rss)
{
    struct fixture f = fixture_begin();

    fixture_event(&f, (struct ml_event){.kind = ML_SAMPLE,
                                        .args = {ml_maker_string(f.maker, "cuda:0"), ML_SAMPLE_USED,
                                                 gpu_bytes, 0, 0, 0}});
    fixture_event(&f, (struct ml_event){
                          .kind = ML_SAMPLE,
                          .args = {ml_maker_string(f.maker, "cpu"),
                                   ML_SAMPLE_BY_PROCESS | UINT64_C(1) << ML_SAMPLE_PROCESS_SHIFT, 0,
                                   0, 0, rss}});
    return fixture_open(&f);
}

static uint64_t peak_under(const struct ml_trace *trace, const struct ml_level_caps *caps)
{
    const struct ml_timeline_opts opts = {.buckets = 3, .caps = caps};
    struct ml_timeline timeline;
    uint64_t peak;

    assert_int_equal(ml_timeline(trace, &opts, &timeline, &err), 0);
    peak = timeline.peak_bytes;
    ml_timeline_release(&timeline);
    return peak;
}

static void a_device_is_counted_where_all_have_it(void **state)
{
    struct ml_trace *traces[] = {gpu_trace(true), gpu_trace(false), host_trace()};
    struct ml_level_caps caps = {0};
    uint32_t cursor = 0, level;

    (void)state;
    assert_int_equal(ml_level_caps_add(&caps, traces[0]), 0);
    assert_int_equal(ml_level_caps_add(&caps, traces[2]), 0);
    assert_null(ml_level_caps_next(&caps, &cursor, &level));
    assert_int_equal(peak_under(traces[0], &caps), 100);
    assert_int_equal(ml_level_caps_add(&caps, traces[1]), 0);
    assert_int_equal(peak_under(traces[0], NULL), 100);
    assert_int_equal(peak_under(traces[0], &caps), 1000);
    assert_int_equal(peak_under(traces[1], &caps), 1000);
    assert_int_equal(peak_under(traces[2], &caps), 7);
    cursor = 0;
    assert_string_equal(ml_level_caps_next(&caps, &cursor, &level), "cuda:0");
    assert_int_equal(level, MEMLEDGER_DRIVER);
    assert_null(ml_level_caps_next(&caps, &cursor, &level));
    ml_level_caps_release(&caps);
    for (size_t i = 0; i < ML_ARRAY_SIZE(traces); i++)
        ml_trace_free(traces[i]);
}

/* Compares two traces and frees them. */
static int compare_two(struct ml_trace *a, struct ml_trace *b, struct ml_summary s[2],
                       struct ml_compare *ret)
{
    const struct ml_compare_input inputs[] = {{"a", "a.mled", &s[0], a}, {"b", "b.mled", &s[1], b}};
    const struct ml_summary_opts opts = {0};

    assert_int_equal(ml_summarize(a, &opts, &s[0], &err), 0);
    assert_int_equal(ml_summarize(b, &opts, &s[1], &err), 0);
    ml_trace_free(a);
    ml_trace_free(b);
    return ml_compare(inputs, 2, NULL, ret, &err);
}

static void runs_without_allocations_are_compared_by_samples(void **state)
{
    struct ml_summary s[2];
    struct ml_compare c;

    (void)state;
    assert_int_equal(compare_two(sampled_trace(1000, 50), sampled_trace(1100, 60), s, &c), 0);
    assert_true(c.by_samples);
    assert_int_equal(c.sampled.len, 2);
    assert_string_equal(c.sampled.items[0].name, "cuda:0");
    assert_int_equal(c.sampled.items[0].peak[1].difference, 100);
    assert_string_equal(c.sampled.items[1].name, "largest RSS");
    assert_int_equal(c.sampled.items[1].peak[0].value, 50);
    assert_true(c.worst_increase_percent > 19.9 && c.worst_increase_percent < 20.1);
    ml_compare_release(&c);
    ml_summary_release(&s[0]);
    ml_summary_release(&s[1]);
}

static void allocations_and_samples_are_not_compared(void **state)
{
    struct ml_summary s[2];
    struct ml_compare c;

    (void)state;
    assert_int_equal(compare_two(gpu_trace(true), sampled_trace(1000, 50), s, &c), -EINVAL);
    assert_non_null(strstr(err.text, "b.mled has only samples"));
    assert_non_null(strstr(err.text, "--sample-only"));
    ml_compare_release(&c);
    ml_summary_release(&s[0]);
    ml_summary_release(&s[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_device_is_counted_where_all_have_it),
        cmocka_unit_test(runs_without_allocations_are_compared_by_samples),
        cmocka_unit_test(allocations_and_samples_are_not_compared),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
