/* test_analyze_temporary.c: blocks that are freed soon after their allocation.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_analyze_story.h"

#include <errno.h>

#include "temporary.h"

static struct ml_error err;

static struct ml_temporary measure(const struct ml_trace *trace, const char *within,
                                   int64_t in_step)
{
    struct ml_temporary_opts opts = {.by = {ML_KEY_MODULE},
                                     .by_count = 1,
                                     .one_step = in_step >= 0,
                                     .step = (uint64_t)in_step,
                                     .top = 10};
    struct ml_temporary ret;

    assert_true(ml_temporary_parse(within, &opts.limit));
    if (ml_temporary(trace, &opts, &ret, &err) < 0)
        fail_msg("%s", err.text);
    return ret;
}

/* In each of two steps: a block freed at once, one freed after the next, one after two
 * more, and one that outlives the step. Events are 10 ns apart. */
static struct ml_trace *four_lives(void)
{
    struct story s = story_begin();
    uint32_t a = story_module(&s, 0, "A"), b = story_module(&s, 0, "B");

    for (uint64_t i = 0; i < 2; i++) {
        step(&s, i);
        be_in(&s, a);
        born(&s, 0x1000, 100); /* lives 10 ns, none besides */
        dies(&s, 0x1000);
        be_in(&s, b);
        born(&s, 0x1000, 200); /* lives 20 ns, one besides */
        born(&s, 0x2000, 400); /* lives 40 ns, two besides */
        dies(&s, 0x1000);
        born(&s, 0x3000 + i * 4096, 1);
        born(&s, 0x9000 + i * 4096, 2);
        dies(&s, 0x2000);
        be_in(&s, 0);
    }
    return fixture_open(&s.f);
}

static void one_other_allocation_is_quick(void **state)
{
    struct ml_trace *trace = four_lives();
    struct ml_temporary t = measure(trace, NULL, -1);

    (void)state;
    assert_int_equal(t.all_allocations, 10);
    assert_int_equal(t.all_bytes, 2 * (100 + 200 + 400 + 1 + 2));
    assert_int_equal(t.total.allocations, 4);
    assert_int_equal(t.total.bytes, 600);
    assert_int_equal(t.groups.len, 2);
    assert_string_equal(t.groups.items[0].names[0], "B");
    assert_int_equal(t.groups.items[0].bytes, 400);
    assert_int_equal(t.groups.items[0].mean_bytes, 200);
    assert_int_equal(t.groups.items[0].mean_life_ns, 20);
    assert_int_equal(t.groups.items[1].allocations, 2);
    assert_int_equal(t.groups.items[1].mean_life_ns, 10);
    ml_temporary_release(&t);
    ml_trace_free(trace);
}

static void the_limit_can_be_another(void **state)
{
    static const struct {
        const char *within;
        uint64_t bytes;
    } cases[] = {{"0", 200}, {"1", 600}, {"2", 1400}, {"10ns", 200}, {"39ns", 600}, {"1s", 1400}};
    struct ml_trace *trace = four_lives();

    (void)state;
    for (size_t i = 0; i < ML_ARRAY_SIZE(cases); i++) {
        struct ml_temporary t = measure(trace, cases[i].within, -1);

        if (t.total.bytes != cases[i].bytes)
            fail_msg("within %s: %llu bytes", cases[i].within, (unsigned long long)t.total.bytes);
        ml_temporary_release(&t);
    }
    ml_trace_free(trace);
}

static void one_step_alone(void **state)
{
    struct ml_trace *trace = four_lives();
    struct ml_temporary t = measure(trace, "2", 1);
    struct ml_temporary_opts opts = {.one_step = true, .step = 9, .by_count = 1, .top = 1};

    (void)state;
    assert_int_equal(t.total.bytes, 700);
    assert_int_equal(t.all_allocations, 5);
    ml_temporary_release(&t);
    assert_int_equal(ml_temporary(trace, &opts, &t, &err), -ENOENT);
    assert_non_null(strstr(err.text, "no step 9"));
    ml_temporary_release(&t);
    ml_trace_free(trace);
}

static void lives_shortly(struct story *s, uint64_t bytes)
{
    born(s, 0x1000, bytes);
    dies(s, 0x1000);
}

static void a_step_of_the_program_takes_over(void **state)
{
    struct story s = story_begin();
    uint32_t a = story_module(&s, 0, "A");
    struct ml_temporary t;
    struct ml_trace *trace;

    (void)state;
    automatic_step(&s, 0);
    lives_shortly(&s, 10);
    automatic_step(&s, 1);
    lives_shortly(&s, 200);
    step(&s, 1);
    be_in(&s, a);
    lives_shortly(&s, 3000);
    step(&s, 2);
    lives_shortly(&s, 40000);
    trace = fixture_open(&s.f);
    t = measure(trace, "0", 1);
    assert_int_equal(t.all_allocations, 1);
    assert_int_equal(t.total.bytes, 3000);
    assert_int_equal(t.groups.len, 1);
    assert_string_equal(t.groups.items[0].names[0], "A");
    ml_temporary_release(&t);
    ml_trace_free(trace);
}

/* What other threads do meanwhile does not make a life longer. */
static void each_thread_counts_its_own(void **state)
{
    struct story s = story_begin();
    struct ml_temporary t;
    struct ml_trace *trace;

    (void)state;
    ml_maker_thread(s.f.maker, 0, 101, ml_maker_string(s.f.maker, "worker"));
    born(&s, 0x1000, 100);
    s.thread = 1;
    for (uint64_t i = 0; i < 5; i++)
        born(&s, 0x2000 + i * 4096, 1);
    s.thread = 0;
    dies(&s, 0x1000);
    trace = fixture_open(&s.f);
    t = measure(trace, "0", -1);
    assert_int_equal(t.total.bytes, 100);
    ml_temporary_release(&t);
    ml_trace_free(trace);
}

static void limits_in_words(void **state)
{
    struct ml_temporary_limit limit;

    (void)state;
    assert_true(ml_temporary_parse("20us", &limit));
    assert_true(limit.by_time);
    assert_int_equal(limit.ns, 20000);
    assert_true(ml_temporary_parse("3", &limit));
    assert_false(limit.by_time);
    assert_int_equal(limit.allocations, 3);
    assert_false(ml_temporary_parse("", &limit));
    assert_false(ml_temporary_parse("soon", &limit));
    assert_false(ml_temporary_parse("99999999999999999999999", &limit));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_other_allocation_is_quick),
        cmocka_unit_test(the_limit_can_be_another),
        cmocka_unit_test(one_step_alone),
        cmocka_unit_test(a_step_of_the_program_takes_over),
        cmocka_unit_test(each_thread_counts_its_own),
        cmocka_unit_test(limits_in_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
