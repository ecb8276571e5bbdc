/* test_analyze_allocations.c: each allocation with its whole lifetime.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_analyze_story.h"

#include "allocations.h"

#define ROWS_MAX 16

struct told {
    struct ml_trace *trace;
    struct ml_allocation rows[ROWS_MAX];
    size_t count;
};

static struct told read_all(struct story *s)
{
    struct told t = {.trace = fixture_open(&s->f)};
    struct ml_allocations *source;
    const struct ml_allocation *batch;
    struct ml_error err = {0};
    int n;

    if (ml_allocations_open(t.trace, &source, &err) < 0)
        fail_msg("%s", err.text);
    while ((n = ml_allocations_next(source, &batch, &err)) > 0)
        for (int i = 0; i < n; i++) {
            assert_true(t.count < ROWS_MAX);
            t.rows[t.count++] = batch[i];
        }
    assert_int_equal(n, 0);
    ml_allocations_free(source);
    return t;
}

static void in_order_of_their_ends(void **state)
{
    struct story s = story_begin();
    struct told t;

    (void)state;
    born(&s, 0x1000, 10); /* 0 */
    born(&s, 0x2000, 20); /* 10 */
    born(&s, 0x3000, 30); /* 20 */
    dies(&s, 0x2000);     /* 30 */
    dies(&s, 0x1000);     /* 40 */
    t = read_all(&s);
    assert_int_equal(t.count, 3);
    assert_int_equal(t.rows[0].size, 20);
    assert_true(t.rows[0].ended);
    assert_int_equal(t.rows[0].time_ns, 10);
    assert_int_equal(t.rows[0].end_ns, 30);
    assert_int_equal(t.rows[1].size, 10);
    assert_int_equal(t.rows[2].size, 30);
    assert_false(t.rows[2].ended);
    assert_true(t.rows[2].counted);
    ml_trace_free(t.trace);
}

static void a_resize_ends_a_block_if_it_works(void **state)
{
    struct story s = story_begin();
    struct told t;

    (void)state;
    born(&s, 0x1000, 10);
    story_event(&s, (struct ml_event){.kind = ML_MOVE, .addr = 0x1000});
    story_event(&s, (struct ml_event){.kind = ML_MOVE_FAILED, .addr = 0x1000});
    story_event(&s, (struct ml_event){.kind = ML_MOVE, .addr = 0x1000}); /* 30 */
    born(&s, 0x1000, 50);
    t = read_all(&s);
    assert_int_equal(t.count, 2);
    assert_int_equal(t.rows[0].size, 10);
    assert_int_equal(t.rows[0].end_ns, 30);
    assert_int_equal(t.rows[1].size, 50);
    assert_false(t.rows[1].ended);
    ml_trace_free(t.trace);
}

static void a_resize_that_never_ended(void **state)
{
    struct story s = story_begin();
    struct told t;

    (void)state;
    born(&s, 0x1000, 10);
    story_event(&s, (struct ml_event){.kind = ML_MOVE, .addr = 0x1000});
    t = read_all(&s);
    assert_int_equal(t.count, 1);
    assert_true(t.rows[0].ended);
    ml_trace_free(t.trace);
}

static void one_row_for_each_part(void **state)
{
    struct story s = story_begin();
    struct told t;

    (void)state;
    born(&s, 0x10000, 0x3000);
    fixture_free_range(&s.f, s.space, 0x11000, 0x1000);
    fixture_free_range(&s.f, s.space, 0x10000, 0x3000);
    t = read_all(&s);
    assert_int_equal(t.count, 2);
    assert_true(t.rows[0].ended && t.rows[1].ended);
    assert_int_equal(t.rows[0].time_ns, t.rows[1].time_ns);
    ml_trace_free(t.trace);
}

static void final_names_and_the_phase_at_birth(void **state)
{
    struct story s = story_begin();
    struct told t;
    const char *phase;

    (void)state;
    mark(&s, "forward");
    born(&s, 0x1000, 10);
    mark(&s, "backward");
    born(&s, 0x2000, 20);
    name(&s, 0x1000, "weight", MEMLEDGER_PARAMETER);
    dies(&s, 0x2000);
    t = read_all(&s);
    assert_int_equal(t.count, 2);
    assert_int_equal(t.rows[0].category, MEMLEDGER_INTERMEDIATE_GRADIENT);
    phase = ml_trace_string(t.trace, t.rows[0].phase, NULL);
    assert_string_equal(phase, "backward");
    assert_int_equal(t.rows[1].category, MEMLEDGER_PARAMETER);
    assert_string_equal(ml_trace_string(t.trace, t.rows[1].label, NULL), "weight");
    phase = ml_trace_string(t.trace, t.rows[1].phase, NULL);
    assert_string_equal(phase, "forward");
    ml_trace_free(t.trace);
}

static void more_than_one_batch_is_left(void **state)
{
    enum { MANY = 5000 };
    struct story s = story_begin();
    struct ml_trace *trace;
    struct ml_allocations *source;
    const struct ml_allocation *batch;
    struct ml_error err = {0};
    uint64_t bytes = 0;
    int n, batches = 0;

    (void)state;
    for (uint64_t i = 0; i < MANY; i++)
        born(&s, 0x1000 * (i + 1), 3);
    trace = fixture_open(&s.f);
    assert_int_equal(ml_allocations_open(trace, &source, &err), 0);
    for (; (n = ml_allocations_next(source, &batch, &err)) > 0; batches++)
        for (int i = 0; i < n; i++)
            bytes += batch[i].size;
    assert_int_equal(bytes, 3 * MANY);
    assert_true(batches > 1);
    ml_allocations_free(source);
    ml_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_order_of_their_ends),
        cmocka_unit_test(a_resize_ends_a_block_if_it_works),
        cmocka_unit_test(a_resize_that_never_ended),
        cmocka_unit_test(one_row_for_each_part),
        cmocka_unit_test(final_names_and_the_phase_at_birth),
        cmocka_unit_test(more_than_one_batch_is_left),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
