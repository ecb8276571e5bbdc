/* test_trace_range.c: cursors: all events, any time range, several at once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "trace_impl.h"
#include "trace_sample.h"

static struct ml_trace *open_sample(const struct ml_maker_opts *opts)
{
    struct ml_buf bytes = {0};
    struct ml_trace *t = NULL;

    assert_int_equal(ml_sample_make(opts, &bytes), 0);
    assert_int_equal(ml_bytes_open(bytes.data, bytes.len, false, &t, NULL), 0);
    ml_buf_release(&bytes);
    return t;
}

/* Reads the range and expects the sample's events first to last - 1. */
static void expect_events(const struct ml_trace *t, uint64_t from_ns, uint64_t to_ns,
                          uint32_t first, uint32_t last)
{
    const struct ml_event *batch;
    struct ml_cursor *c;
    int n;

    assert_int_equal(ml_cursor_open(t, from_ns, to_ns, &c, NULL), 0);
    while ((n = ml_cursor_next(c, &batch, NULL)) > 0) {
        for (int i = 0; i < n; i++, first++) {
            struct ml_event want = ml_sample_event(first);

            assert_int_equal(batch[i].time_ns, want.time_ns);
            assert_int_equal(batch[i].kind, want.kind);
            assert_int_equal(batch[i].addr, want.addr);
            assert_int_equal(batch[i].size, want.size);
            assert_int_equal(batch[i].scope, want.scope);
            assert_memory_equal(batch[i].args, want.args, sizeof(want.args));
        }
    }
    assert_int_equal(n, 0);
    assert_int_equal(first, last);
    assert_int_equal(ml_cursor_next(c, &batch, NULL), 0);
    ml_cursor_free(c);
}

static void all_events_come(void **state)
{
    struct ml_trace *t = open_sample(NULL);

    (void)state;
    expect_events(t, 0, UINT64_MAX, 0, ML_SAMPLE_EVENTS);
    ml_trace_free(t);
}

static void stored_and_unindexed_traces_read_the_same(void **state)
{
    struct ml_trace *t = open_sample(&(struct ml_maker_opts){.stored = true});

    (void)state;
    expect_events(t, 0, UINT64_MAX, 0, ML_SAMPLE_EVENTS);
    ml_trace_free(t);
    t = open_sample(&(struct ml_maker_opts){.no_index = true});
    assert_false(ml_trace_info(t)->has_index);
    assert_int_equal(ml_trace_info(t)->ignored_bytes, 0);
    expect_events(t, 0, UINT64_MAX, 0, ML_SAMPLE_EVENTS);
    ml_trace_free(t);
}

/* Every pair of first and last event, with the borders on the events and
 * between them. */
static void any_range_comes(void **state)
{
    struct ml_trace *t = open_sample(NULL);
    const uint64_t step = ML_SAMPLE_STEP_NS;

    (void)state;
    for (uint32_t first = 0; first < ML_SAMPLE_EVENTS; first++) {
        for (uint32_t last = first; last < ML_SAMPLE_EVENTS; last++) {
            expect_events(t, first * step, last * step, first, last + 1);
            expect_events(t, first * step + 1, last * step + 1, first + 1, last + 1);
        }
    }
    ml_trace_free(t);
}

static void empty_ranges_are_empty(void **state)
{
    struct ml_trace *t = open_sample(NULL);

    (void)state;
    expect_events(t, 501, 599, 0, 0);
    expect_events(t, 600, 500, 0, 0);
    expect_events(t, ML_SAMPLE_EVENTS * ML_SAMPLE_STEP_NS, UINT64_MAX, 0, 0);
    ml_trace_free(t);
}

/* Many events at one time, across the border of two blocks. */
static void events_at_the_same_time_all_come(void **state)
{
    int fd = memfd_create("same", MFD_CLOEXEC);
    struct ml_maker *m = ml_maker_on_fd(fd, &(struct ml_maker_opts){.block_events = 1000});
    struct ml_event ev = {.kind = ML_FREE};
    struct ml_buf bytes = {0};
    const struct ml_event *batch;
    struct ml_trace *t;
    struct ml_cursor *c;
    int n, seen = 0;

    (void)state;
    for (int i = 0; i < 3000; i++) {
        ev.time_ns = i < 500 ? 1 : i < 2500 ? 2 : 3;
        ml_maker_event(m, &ev);
    }
    assert_int_equal(ml_maker_close(m), 0);
    assert_int_equal(ml_bytes_of_fd(fd, &bytes), 0);
    close(fd);
    assert_int_equal(ml_bytes_open(bytes.data, bytes.len, false, &t, NULL), 0);
    assert_int_equal(ml_cursor_open(t, 2, 2, &c, NULL), 0);
    while ((n = ml_cursor_next(c, &batch, NULL)) > 0)
        seen += n;
    assert_int_equal(n, 0);
    assert_int_equal(seen, 2000);
    ml_cursor_free(c);
    ml_trace_free(t);
    ml_buf_release(&bytes);
}

static void cursors_do_not_disturb_each_other(void **state)
{
    struct ml_trace *t = open_sample(NULL);
    const struct ml_event *batch;
    struct ml_cursor *slow;
    int n, seen = 0;

    (void)state;
    assert_int_equal(ml_cursor_open(t, 0, UINT64_MAX, &slow, NULL), 0);
    while ((n = ml_cursor_next(slow, &batch, NULL)) > 0) {
        struct ml_event want = ml_sample_event((uint32_t)seen);

        expect_events(t, 0, UINT64_MAX, 0, ML_SAMPLE_EVENTS);
        assert_int_equal(batch[0].addr, want.addr);
        seen += n;
    }
    assert_int_equal(seen, ML_SAMPLE_EVENTS);
    ml_cursor_free(slow);
    ml_trace_free(t);
}

/* Sums of sizes must not overflow; a failed request may have any size. */
static void sizes_that_no_memory_has_are_bounded(void **state)
{
    static const struct ml_event written[] = {
        {.kind = ML_ALLOC, .addr = 1, .size = UINT64_MAX},
        {.kind = ML_ALLOC_EX, .addr = 2, .size = ML_BYTES_MAX, .args = {ML_BYTES_MAX + 1}},
        {.kind = ML_SAMPLE, .args = {0, UINT64_MAX, UINT64_MAX, 1, UINT64_MAX, UINT64_MAX}},
        {.kind = ML_OOM, .size = UINT64_MAX},
    };
    int fd = memfd_create("sizes", MFD_CLOEXEC);
    struct ml_maker *m = ml_maker_on_fd(fd, NULL);
    const struct ml_event *e;
    struct ml_cursor *c;
    struct ml_trace *t;

    (void)state;
    for (int i = 0; i < 4; i++)
        ml_maker_event(m, &written[i]);
    assert_int_equal(ml_maker_close(m), 0);
    assert_int_equal(ml_trace_open_fd(fd, "sizes", &(struct ml_trace_opts){0}, &t, NULL), 0);
    assert_int_equal(ml_cursor_open(t, 0, UINT64_MAX, &c, NULL), 0);
    assert_int_equal(ml_cursor_next(c, &e, NULL), 4);
    assert_int_equal(e[0].size, ML_BYTES_MAX);
    assert_int_equal(e[1].args[0], ML_BYTES_MAX);
    assert_true(e[2].args[1] == UINT64_MAX); /* bits */
    assert_int_equal(e[2].args[2], ML_BYTES_MAX);
    assert_int_equal(e[2].args[3], 1);
    assert_int_equal(e[2].args[5], ML_BYTES_MAX);
    assert_true(e[3].size == UINT64_MAX);
    ml_cursor_free(c);
    ml_trace_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_that_no_memory_has_are_bounded),
        cmocka_unit_test(all_events_come),
        cmocka_unit_test(stored_and_unindexed_traces_read_the_same),
        cmocka_unit_test(any_range_comes),
        cmocka_unit_test(empty_ranges_are_empty),
        cmocka_unit_test(events_at_the_same_time_all_come),
        cmocka_unit_test(cursors_do_not_disturb_each_other),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
