/* test_analyze_events.c: choosing events, and scope paths.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_analyze_fixture.h"

#include <errno.h>
#include <stdio.h>

#include "events.h"
#include "scope_path.h"

#define ALL                                                                                        \
    {                                                                                              \
        .to_ns = UINT64_MAX, .max_bytes = UINT64_MAX                                               \
    }

/* What a visit saw: times of the events, and the last one. */
struct seen {
    uint64_t times[32];
    size_t count;
    uint64_t last_bytes;
    char last_scope[64];
    char last_label[64];
};

static int see(void *ctx, const struct ml_event_view *view)
{
    struct seen *s = ctx;

    s->times[s->count++] = view->event->time_ns;
    s->last_bytes = view->has_bytes ? view->bytes : UINT64_MAX;
    snprintf(s->last_scope, sizeof(s->last_scope), "%s", view->scope);
    s->last_label[0] = '\0';
    for (size_t i = 0; i < view->field_count; i++)
        if (strcmp(view->fields[i].key, "label") == 0)
            snprintf(s->last_label, sizeof(s->last_label), "%s", view->fields[i].text);
    return 0;
}

static struct ml_trace *small_trace(void)
{
    struct fixture f = fixture_begin();
    uint32_t conv = ml_maker_scope(f.maker, 0, 0, ml_maker_string(f.maker, "conv"));
    uint32_t gpu = ml_maker_space(f.maker, 0, ml_maker_string(f.maker, "cuda:0"), MEMLEDGER_BLOCK,
                                  ml_maker_string(f.maker, "caching"));

    fixture_alloc(&f, f.block, 1, 100);                                   /* 0 */
    fixture_event(&f, (struct ml_event){.kind = ML_PUSH, .scope = conv}); /* 10 */
    fixture_event(&f, (struct ml_event){                                  /* 20 */
                                        .kind = ML_ALLOC,
                                        .space = gpu,
                                        .scope = conv,
                                        .addr = 2,
                                        .size = 5000});
    fixture_event(&f, (struct ml_event){/* 30 */
                                        .kind = ML_LABEL,
                                        .space = gpu,
                                        .scope = conv,
                                        .addr = 2,
                                        .args = {ml_maker_string(f.maker, "out"), 5}});
    fixture_free(&f, gpu, 2);     /* 40 */
    fixture_free(&f, f.block, 1); /* 50 */
    return fixture_open(&f);
}

static struct seen choose(struct ml_events_opts opts)
{
    struct ml_trace *trace = small_trace();
    struct ml_error err = {0};
    struct seen seen = {0};

    if (ml_events(trace, &opts, see, &seen, NULL, &err) < 0)
        fail_msg("%s", err.text);
    ml_trace_free(trace);
    return seen;
}

static void everything_without_a_filter(void **state)
{
    struct seen s = choose((struct ml_events_opts)ALL);

    (void)state;
    assert_int_equal(s.count, 6);
    assert_int_equal(s.last_bytes, 100);
}

static void by_time_both_ends_included(void **state)
{
    struct ml_events_opts opts = ALL;
    struct seen s;

    (void)state;
    opts.from_ns = 10;
    opts.to_ns = 30;
    s = choose(opts);
    assert_int_equal(s.count, 3);
    assert_int_equal(s.times[0], 10);
    assert_int_equal(s.times[2], 30);
}

static void frees_have_the_size_and_name_of_their_block(void **state)
{
    struct ml_events_opts opts = ALL;
    struct seen s;

    (void)state;
    opts.kinds = 1u << ML_FREE;
    opts.by_size = true;
    opts.min_bytes = 1000;
    s = choose(opts);
    assert_int_equal(s.count, 1);
    assert_int_equal(s.times[0], 40);
    assert_int_equal(s.last_bytes, 5000);
    assert_string_equal(s.last_label, "out");
}

static void sizes_leave_out_what_has_none(void **state)
{
    struct ml_events_opts opts = ALL;

    (void)state;
    opts.by_size = true;
    opts.max_bytes = 100;
    assert_int_equal(choose(opts).count, 2);
}

static void by_scope_and_by_space(void **state)
{
    struct ml_events_opts opts = ALL;
    struct seen s;

    (void)state;
    opts.scope = "onv";
    s = choose(opts);
    assert_int_equal(s.count, 3);
    assert_string_equal(s.last_scope, "conv");
    opts.scope = NULL;
    opts.space = "cuda";
    assert_int_equal(choose(opts).count, 3);
    opts.space = "block/heap";
    assert_int_equal(choose(opts).count, 2);
}

static void the_limit_ends_the_reading(void **state)
{
    struct ml_events_opts opts = ALL;

    (void)state;
    opts.limit = 2;
    assert_int_equal(choose(opts).count, 2);
}

static int refuse(void *ctx, const struct ml_event_view *view)
{
    (void)ctx;
    (void)view;
    return -EIO;
}

static void what_a_visit_returns_is_returned(void **state)
{
    struct ml_trace *trace = small_trace();
    struct ml_events_opts opts = ALL;
    struct ml_error err = {0};

    (void)state;
    assert_int_equal(ml_events(trace, &opts, refuse, NULL, NULL, &err), -EIO);
    ml_trace_free(trace);
}

static void kinds_are_named(void **state)
{
    const char *unknown;
    uint32_t kinds;

    (void)state;
    assert_int_equal(ml_events_parse_kinds("free,label", &kinds, &unknown), 0);
    assert_int_equal(kinds, 1u << ML_FREE | 1u << ML_FREE_RANGE | 1u << ML_LABEL);
    assert_int_equal(ml_events_parse_kinds("alloc", &kinds, &unknown), 0);
    assert_int_equal(kinds, 1u << ML_ALLOC | 1u << ML_ALLOC_EX);
    assert_int_equal(ml_events_parse_kinds("free_range", &kinds, &unknown), 0);
    assert_int_equal(kinds, 1u << ML_FREE_RANGE);
    assert_int_equal(ml_events_parse_kinds("free,fre", &kinds, &unknown), -EINVAL);
    assert_string_equal(unknown, "fre");
    assert_int_equal(ml_events_parse_kinds("unknown", &kinds, &unknown), -EINVAL);
}

/* ---- Paths ------------------------------------------------------------- */

static void a_path_that_is_too_long_loses_its_beginning(void **state)
{
    struct fixture f = fixture_begin();
    struct ml_buf path;
    struct ml_trace *trace;
    uint32_t scope = 0;

    (void)state;
    for (int i = 0; i < 1000; i++)
        scope = ml_maker_scope(f.maker, scope, 0, ml_maker_string(f.maker, "0123456789"));
    trace = fixture_open(&f);
    ml_buf_init(&path);
    assert_int_equal(ml_scope_path(trace, scope, &path), 0);
    assert_true(path.len < ML_SCOPE_PATH_MAX + 10);
    assert_memory_equal(path.data, "\xe2\x80\xa6 > 0123", 10);
    ml_buf_clear(&path);
    assert_int_equal(ml_scope_path(trace, 0, &path), 0);
    assert_int_equal(path.len, 0);
    ml_buf_release(&path);
    ml_trace_free(trace);
}

static int pass_over(void *ctx, const struct ml_event_view *view)
{
    (void)ctx;
    (void)view;
    return 0;
}

static bool looks_empty(const struct ml_trace *trace, struct ml_events_opts opts)
{
    struct ml_error err = {0};
    struct ml_health health;

    assert_int_equal(ml_events(trace, &opts, pass_over, NULL, &health, &err), 0);
    return health.empty;
}

static void a_part_does_not_say_that_the_whole_is_empty(void **state)
{
    struct fixture f = fixture_begin();
    struct ml_events_opts opts = ALL;
    struct ml_trace *trace;

    (void)state;
    fixture_event(&f, (struct ml_event){.kind = ML_MARK});
    fixture_event(&f, (struct ml_event){.kind = ML_MARK});
    trace = fixture_open(&f);
    assert_true(looks_empty(trace, opts));
    opts.limit = 1;
    assert_false(looks_empty(trace, opts));
    opts = (struct ml_events_opts)ALL;
    opts.to_ns = 5;
    assert_false(looks_empty(trace, opts));
    opts = (struct ml_events_opts)ALL;
    opts.kinds = 1u << ML_SAMPLE;
    assert_false(looks_empty(trace, opts));
    ml_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_without_a_filter),
        cmocka_unit_test(by_time_both_ends_included),
        cmocka_unit_test(frees_have_the_size_and_name_of_their_block),
        cmocka_unit_test(sizes_leave_out_what_has_none),
        cmocka_unit_test(by_scope_and_by_space),
        cmocka_unit_test(the_limit_ends_the_reading),
        cmocka_unit_test(what_a_visit_returns_is_returned),
        cmocka_unit_test(a_part_does_not_say_that_the_whole_is_empty),
        cmocka_unit_test(kinds_are_named),
        cmocka_unit_test(a_path_that_is_too_long_loses_its_beginning),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
