/* test_analyze_bands.c: live bytes over time in bands: each moment adds up to its total,
 * no peak and no trough is lost, modules are found.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_analyze_story.h"

#include <stdio.h>

#include "bands.h"

static struct ml_bands window_of(const struct ml_trace *trace, enum ml_bands_by by,
                                 const struct ml_timeline_opts *opts)
{
    struct ml_error err = {0};
    struct ml_bands bands;

    if (ml_bands(trace, by, opts, &bands, &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(bands.moments.len, 2 * bands.total.buckets.len);
    return bands;
}

static struct ml_bands bands_of(const struct ml_trace *trace, enum ml_bands_by by, size_t buckets)
{
    return window_of(trace, by, &(struct ml_timeline_opts){.buckets = buckets});
}

static uint64_t sum_of(const struct ml_bands_moment *moment)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < ML_BANDS_MAX; i++)
        sum += moment->bytes[i];
    return sum;
}

/* Both moments of every bucket are its lowest and its highest total, in order. */
static void adds_up(const struct ml_bands *bands)
{
    for (size_t i = 0; i < bands->total.buckets.len; i++) {
        const struct ml_timeline_bucket *b = &bands->total.buckets.items[i];
        uint64_t first = sum_of(&bands->moments.items[2 * i]);
        uint64_t second = sum_of(&bands->moments.items[2 * i + 1]);

        assert_int_equal(first < second ? first : second, b->min_bytes);
        assert_int_equal(first < second ? second : first, b->max_bytes);
    }
}

static void a_label_behind_the_peak_counts(void **state)
{
    struct fixture f = fixture_begin();
    struct ml_trace *trace;
    struct ml_bands bands;

    (void)state;
    fixture_alloc(&f, f.block, 0x1000, 100);
    fixture_label(&f, f.block, 0x1000, "w", MEMLEDGER_PARAMETER);
    fixture_alloc(&f, f.block, 0x2000, 40);
    fixture_label(&f, f.block, 0x2000, "g", MEMLEDGER_GRADIENT);
    fixture_free(&f, f.block, 0x2000);
    fixture_free(&f, f.block, 0x1000);
    trace = fixture_open(&f);
    bands = bands_of(trace, ML_BANDS_CATEGORY, 1);
    adds_up(&bands);
    assert_int_equal(bands.total.peak_bytes, 140);
    assert_int_equal(bands.list[MEMLEDGER_PARAMETER].share_bytes, 100);
    assert_int_equal(bands.list[MEMLEDGER_GRADIENT].share_bytes, 40);
    assert_int_equal(bands.list[MEMLEDGER_OTHER].share_bytes, 0);
    assert_string_equal(bands.list[MEMLEDGER_GRADIENT].name, "gradient");
    ml_bands_release(&bands);
    ml_trace_free(trace);
}

/* The trace ends with the label: both are at its very end. */
static void a_label_at_the_end_counts(void **state)
{
    struct fixture f = fixture_begin();
    struct ml_trace *trace;
    struct ml_bands bands;

    (void)state;
    fixture_alloc(&f, f.block, 0x2000, 1);
    fixture_free(&f, f.block, 0x2000);
    fixture_alloc(&f, f.block, 0x1000, 100);
    f.time_ns -= 10; /* at the same time */
    fixture_label(&f, f.block, 0x1000, "w", MEMLEDGER_PARAMETER);
    trace = fixture_open(&f);
    bands = bands_of(trace, ML_BANDS_CATEGORY, 8);
    adds_up(&bands);
    assert_int_equal(bands.list[MEMLEDGER_PARAMETER].share_bytes, 100);
    assert_int_equal(bands.list[MEMLEDGER_OTHER].peak_bytes, 1);
    ml_bands_release(&bands);
    ml_trace_free(trace);
}

/* Many blocks in few buckets: short peaks and troughs stay. */
static void short_peaks_and_troughs_stay(void **state)
{
    struct fixture f = fixture_begin();
    struct ml_trace *trace;

    (void)state;
    for (uint64_t i = 0; i < 200; i++) {
        fixture_alloc(&f, f.block, 0x100000 + i * 0x1000, 1 + i * 37 % 101);
        if (i % 5 == 4)
            fixture_free(&f, f.block, 0x100000 + (i - 3) * 0x1000);
        if (i == 120)
            for (uint64_t k = 0; k < 100; k += 5)
                fixture_free(&f, f.block, 0x100000 + k * 0x1000);
    }
    trace = fixture_open(&f);
    for (size_t buckets = 1; buckets < 400; buckets = buckets * 3 + 1)
        for (int by = ML_BANDS_CATEGORY; by <= ML_BANDS_DEVICE; by++) {
            struct ml_bands bands = bands_of(trace, (enum ml_bands_by)by, buckets);

            adds_up(&bands);
            ml_bands_release(&bands);
            bands = window_of(
                trace, (enum ml_bands_by)by,
                &(struct ml_timeline_opts){.buckets = buckets, .from_ns = 333, .span_ns = 1000});
            adds_up(&bands);
            ml_bands_release(&bands);
        }
    ml_trace_free(trace);
}

/* What lies before and behind the window does not count, but for what is left of it. */
static void a_window_shows_its_own_peak(void **state)
{
    struct ml_timeline_opts opts = {.buckets = 8, .from_ns = 25, .span_ns = 30};
    struct fixture f = fixture_begin();
    struct ml_trace *trace;
    struct ml_bands bands;

    (void)state;
    fixture_alloc(&f, f.block, 0x1000, 10);   /* at 0 */
    fixture_alloc(&f, f.block, 0x2000, 500);  /* 10 */
    fixture_free(&f, f.block, 0x2000);        /* 20 */
    fixture_alloc(&f, f.block, 0x3000, 30);   /* 30 */
    fixture_alloc(&f, f.block, 0x4000, 5);    /* 40 */
    fixture_free(&f, f.block, 0x3000);        /* 50 */
    fixture_alloc(&f, f.block, 0x5000, 9000); /* 60 */
    trace = fixture_open(&f);
    bands = window_of(trace, ML_BANDS_CATEGORY, &opts);
    adds_up(&bands);
    assert_int_equal(bands.total.begin_bytes, 10);
    assert_int_equal(bands.total.peak_bytes, 45);
    assert_int_equal(bands.total.peak_time_ns, 40);
    assert_int_equal(bands.list[MEMLEDGER_OTHER].peak_bytes, 45);
    assert_int_equal(bands.total.buckets.items[bands.total.buckets.len - 1].last_bytes, 15);
    assert_int_equal(sum_of(&bands.moments.items[0]), 10);
    ml_bands_release(&bands);
    ml_trace_free(trace);
}

static const struct ml_band *named(const struct ml_bands *bands, const char *name)
{
    for (size_t i = 0; i < bands->count; i++)
        if (!bands->list[i].rest && strcmp(bands->list[i].name, name) == 0)
            return &bands->list[i];
    fail_msg("no band %s", name);
    return NULL;
}

static void modules_have_their_own(void **state)
{
    struct story s = story_begin();
    uint32_t model, a, b;
    struct ml_trace *trace;
    struct ml_bands bands;

    (void)state;
    model = story_module(&s, 0, "Net");
    a = story_module(&s, model, "a");
    b = story_module(&s, model, "b");
    born(&s, 0x1000, 7);
    enter(&s, model);
    enter(&s, a);
    born(&s, 0x2000, 100);
    leave_to(&s, model);
    enter(&s, b);
    born(&s, 0x3000, 50);
    leave_to(&s, model);
    born(&s, 0x4000, 3);
    leave_to(&s, 0);
    fixture_free(&s.f, s.space, 0x2000);
    trace = fixture_open(&s.f);
    bands = bands_of(trace, ML_BANDS_MODULE, 10);
    adds_up(&bands);
    assert_int_equal(named(&bands, "Net > a")->share_bytes, 100);
    assert_int_equal(named(&bands, "Net > b")->share_bytes, 50);
    assert_int_equal(named(&bands, "Net")->share_bytes, 3);
    assert_int_equal(named(&bands, "")->share_bytes, 7);
    assert_int_equal(bands.moments.items[bands.moments.len - 1].bytes[0], 7);
    ml_bands_release(&bands);
    ml_trace_free(trace);
}

/* What a process leaves behind is gone with it. */
static void ended_processes_hold_nothing(void **state)
{
    struct story s = story_begin();
    struct ml_trace *trace;
    struct ml_bands bands;

    (void)state;
    enter(&s, story_module(&s, 0, "Net"));
    born(&s, 0x1000, 64);
    fixture_event(&s.f, (struct ml_event){.kind = ML_PROCESS_END, .args = {0, 1}});
    trace = fixture_open(&s.f);
    bands = bands_of(trace, ML_BANDS_MODULE, 4);
    adds_up(&bands);
    assert_int_equal(sum_of(&bands.moments.items[bands.moments.len - 1]), 0);
    ml_bands_release(&bands);
    ml_trace_free(trace);
}

/* Twenty layers have no room: the largest have a band, the others one together. */
static void many_modules_leave_a_rest(void **state)
{
    struct story s = story_begin();
    uint32_t model = story_module(&s, 0, "Net");
    struct ml_trace *trace;
    struct ml_bands bands;
    uint64_t in_bands = 0;

    (void)state;
    enter(&s, model);
    for (uint64_t i = 0; i < 20; i++) {
        char name[16];

        snprintf(name, sizeof(name), "layers.%u", (unsigned)i);
        enter(&s, story_module(&s, model, name));
        born(&s, 0x1000 * (i + 1), 100 + i);
        leave_to(&s, model);
    }
    trace = fixture_open(&s.f);
    bands = bands_of(trace, ML_BANDS_MODULE, 10);
    adds_up(&bands);
    for (size_t i = 0; i < bands.count; i++)
        in_bands += bands.list[i].rest ? 0 : bands.list[i].share_bytes;
    assert_int_equal(named(&bands, "Net > layers.19")->share_bytes, 119);
    assert_int_equal(bands.list[ML_BANDS_MAX - 1].share_bytes, bands.total.peak_bytes - in_bands);
    assert_true(bands.list[ML_BANDS_MAX - 1].share_bytes > 0);
    ml_bands_release(&bands);
    ml_trace_free(trace);
}

static void an_empty_trace_has_no_bytes(void **state)
{
    struct fixture f = fixture_begin();
    struct ml_trace *trace = fixture_open(&f);

    (void)state;
    for (int by = ML_BANDS_CATEGORY; by <= ML_BANDS_DEVICE; by++) {
        struct ml_bands bands = bands_of(trace, (enum ml_bands_by)by, 10);

        assert_int_equal(bands.total.peak_bytes, 0);
        adds_up(&bands);
        ml_bands_release(&bands);
    }
    ml_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_label_behind_the_peak_counts),
        cmocka_unit_test(a_label_at_the_end_counts),
        cmocka_unit_test(short_peaks_and_troughs_stay),
        cmocka_unit_test(a_window_shows_its_own_peak),
        cmocka_unit_test(modules_have_their_own),
        cmocka_unit_test(ended_processes_hold_nothing),
        cmocka_unit_test(many_modules_leave_a_rest),
        cmocka_unit_test(an_empty_trace_has_no_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
