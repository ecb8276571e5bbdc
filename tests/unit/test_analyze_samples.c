/* test_analyze_samples.c: peaks and curves of what was sampled.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_analyze_fixture.h"

#include "sample_curves.h"
#include "summary.h"

#define ABOUT(process) ((1 + (uint64_t)(process)) << ML_SAMPLE_PROCESS_SHIFT)

static void sample(struct fixture *f, const char *device, uint64_t bits, uint64_t used,
                   uint64_t total, uint64_t by_process)
{
    fixture_event(f, (struct ml_event){.kind = ML_SAMPLE,
                                       .args = {ml_maker_string(f->maker, device), bits, used, 0,
                                                total, by_process}});
}

static void used(struct fixture *f, const char *device, uint64_t bytes)
{
    sample(f, device, ML_SAMPLE_USED | ML_SAMPLE_TOTAL, bytes, 1000, 0);
}

static void of_process(struct fixture *f, const char *device, uint64_t process, uint64_t more_bits,
                       uint64_t bytes)
{
    sample(f, device, ML_SAMPLE_BY_PROCESS | more_bits | ABOUT(process), 0, 0, bytes);
}

/* A process (0) and its child (1) on two GPUs, and on the host. */
static struct ml_trace *sampled_trace(bool sample_only)
{
    struct fixture f = fixture_begin();

    ml_maker_process(f.maker, 101, 0, ml_maker_string(f.maker, "child"));
    ml_maker_setting(f.maker, "sample_hz", "1000");
    ml_maker_setting(f.maker, "sample_pace_hz", "1000");
    ml_maker_setting(f.maker, "sample_hz_achieved", "998.5");
    ml_maker_setting(f.maker, "sample_taken", "123");
    ml_maker_setting(f.maker, "sample_cpu_seconds", "0.25");
    ml_maker_setting(f.maker, "gpu cuda:1", "Some GPU");
    ml_maker_setting(f.maker, "sample_only", sample_only ? "yes" : "no");
    used(&f, "cuda:1", 500); /* time 0 */
    used(&f, "cuda:0", 10);
    of_process(&f, "cuda:1", 0, 0, 300); /* 20 */
    of_process(&f, "cuda:0", 0, 0, 50);
    of_process(&f, "cuda:1", 0, 0, 100); /* 40: 150 in all, 350 before */
    used(&f, "cuda:1", 900);             /* 50 */
    used(&f, "cuda:1", 200);
    of_process(&f, "cpu", 0, 0, 70); /* 70 */
    of_process(&f, "cpu", 1, 0, 80);
    of_process(&f, "cpu", 1, ML_SAMPLE_SHARE, 20); /* 90 */
    /* All processes that are not recorded: nobody's. */
    sample(&f, "cuda:0", ML_SAMPLE_BY_PROCESS, 0, 0, 5);
    fixture_event(&f, (struct ml_event){.kind = ML_PROCESS_END, .args = {1, 0}}); /* 110 */
    sample(&f, "cpu", 0, 9999, 9999, 9999); /* no value is known */
    return fixture_open(&f);
}

static struct ml_summary summarize(struct ml_trace *trace)
{
    struct ml_summary summary;
    struct ml_error err = {0};

    if (ml_summarize(trace, &(struct ml_summary_opts){.top = 1}, &summary, &err) < 0)
        fail_msg("%s", err.text);
    return summary;
}

static void assert_seen(struct ml_seen seen, uint64_t bytes)
{
    assert_true(seen.known);
    assert_int_equal(seen.bytes, bytes);
}

static void peaks_by_device_and_process(void **state)
{
    struct ml_trace *trace = sampled_trace(false);
    struct ml_summary s = summarize(trace);
    const struct ml_samples *all = &s.samples;

    (void)state;
    assert_int_equal(all->events, 12);
    assert_int_equal(all->devices.len, 3);
    assert_string_equal(all->devices.items[0].device, "cuda:0");
    assert_null(all->devices.items[0].name);
    assert_seen(all->devices.items[0].peak_used, 10);
    assert_string_equal(all->devices.items[1].name, "Some GPU");
    assert_seen(all->devices.items[1].peak_used, 900);
    assert_seen(all->devices.items[1].total, 1000);
    assert_int_equal(all->devices.items[1].peak_time_ns, 50);
    assert_true(all->devices.items[2].is_host);
    assert_false(all->devices.items[2].peak_used.known);
    assert_false(all->devices.items[2].total.known);
    assert_int_equal(all->processes.len, 2);
    assert_int_equal(all->processes.items[0].pid, 100);
    assert_seen(all->processes.items[0].peak_gpu, 350);
    assert_seen(all->processes.items[0].peak_rss, 70);
    assert_false(all->processes.items[0].peak_pss.known);
    assert_int_equal(all->processes.items[1].pid, 101);
    assert_seen(all->processes.items[1].peak_rss, 80);
    assert_seen(all->processes.items[1].peak_pss, 20);
    assert_false(all->processes.items[1].peak_gpu.known);
    assert_true(all->rate.known);
    assert_int_equal(all->rate.taken, 123);
    assert_true(all->rate.achieved_hz == 998.5);
    ml_summary_release(&s);
    ml_trace_free(trace);
}

static void an_empty_run_is_one_that_could_have_more(void **state)
{
    struct ml_trace *trace = sampled_trace(false);
    struct ml_summary s = summarize(trace);

    (void)state;
    assert_true(s.health.empty);
    ml_summary_release(&s);
    ml_trace_free(trace);
    trace = sampled_trace(true);
    s = summarize(trace);
    assert_false(s.health.empty);
    ml_summary_release(&s);
    ml_trace_free(trace);
}

static void curves_of_devices_and_processes(void **state)
{
    struct ml_trace *trace = sampled_trace(true);
    struct ml_timeline_opts opts = {.buckets = 12}; /* of 10 ns */
    struct ml_sample_curves all;
    struct ml_error err = {0};
    const struct ml_sample_curve *gpu, *rss;

    (void)state;
    assert_int_equal(ml_sample_curves(trace, &opts, &all, &err), 0);
    assert_true(all.sample_only);
    assert_int_equal(all.list.len, 3);
    assert_false(all.list.items[0].varies);
    assert_false(all.list.items[0].is_recorded);

    gpu = &all.list.items[1];
    assert_string_equal(gpu->name, "cuda:1");
    assert_true(gpu->varies);
    assert_int_equal(gpu->timeline.begin_ns, 0);
    assert_int_equal(gpu->timeline.begin_bytes, 500);
    assert_int_equal(gpu->timeline.peak_bytes, 900);
    assert_int_equal(gpu->timeline.peak_time_ns, 50);
    assert_int_equal(gpu->timeline.buckets.len, 12);
    assert_int_equal(gpu->timeline.buckets.items[0].min_bytes, 500);
    assert_int_equal(gpu->timeline.buckets.items[5].max_bytes, 900);
    assert_int_equal(gpu->timeline.buckets.items[11].last_bytes, 200);

    rss = &all.list.items[2];
    assert_true(rss->is_rss);
    assert_true(rss->is_recorded);
    assert_int_equal(rss->timeline.begin_ns, 70);
    assert_int_equal(rss->timeline.begin_bytes, 70);
    assert_int_equal(rss->timeline.peak_bytes, 150);
    assert_int_equal(rss->timeline.buckets.items[7].min_bytes, 70);
    /* What the child had went with it. */
    assert_int_equal(rss->timeline.buckets.items[11].last_bytes, 70);
    ml_sample_curves_release(&all);
    ml_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(peaks_by_device_and_process),
        cmocka_unit_test(an_empty_run_is_one_that_could_have_more),
        cmocka_unit_test(curves_of_devices_and_processes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
