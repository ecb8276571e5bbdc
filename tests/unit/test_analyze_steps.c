/* test_analyze_steps.c: the peaks of steps, and the report on them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_analyze_story.h"

#include "instant.h"
#include "process_steps.h"
#include "steps.h"
#include "summary.h"

struct stepped {
    struct ml_trace *trace;
    struct ml_classes classes;
    struct ml_steps steps;
};

static struct stepped read_steps(struct story *s)
{
    struct stepped r = {0};
    struct ml_error err = {0};

    r.trace = story_classes(s, &r.classes);
    if (ml_steps_read(r.trace, &r.classes, &r.steps, &err) < 0)
        fail_msg("%s", err.text);
    return r;
}

static void release(struct stepped *r)
{
    ml_steps_release(&r->steps);
    ml_classes_release(&r->classes);
    ml_trace_free(r->trace);
}

/* Three steps with peaks of 1100, 1600 and 1050 bytes, after one of 5000. */
static void tell_three_steps(struct story *s)
{
    uint32_t net = story_module(s, 0, "Net");

    born(s, 0x1000, 5000);
    dies(s, 0x1000);
    born(s, 0x1000, 1000);
    name(s, 0x1000, "w", MEMLEDGER_PARAMETER);
    for (uint64_t i = 0; i < 3; i++) {
        static const uint64_t sizes[] = {100, 600, 50};

        step(s, i);
        enter(s, net);
        born(s, 0x2000, sizes[i]);
        leave_to(s, 0);
        dies(s, 0x2000);
    }
    born(s, 0x3000, 7); /* still the last step */
}

static void switch_recording(struct story *s, uint64_t mark, uint64_t time_ns)
{
    s->f.time_ns = time_ns;
    story_event(s, (struct ml_event){.kind = ML_MARK, .args = {mark, 1}});
}

/* From before the first step, twice in the second, and from the third on. */
static void a_pause_is_no_time_of_a_step(void **state)
{
    struct story s = story_begin();
    struct stepped r;

    (void)state;
    switch_recording(&s, ML_MARK_PAUSE, 100);
    switch_recording(&s, ML_MARK_RESUME, 200);
    for (uint64_t i = 0; i < 3; i++) {
        s.f.time_ns = 1000 * (i + 1);
        step(&s, i);
        born(&s, 0x1000 * (i + 1), 10);
        if (i == 0)
            continue;
        switch_recording(&s, ML_MARK_PAUSE, 1000 * (i + 1) + 300);
        switch_recording(&s, ML_MARK_PAUSE, 1000 * (i + 1) + 310); /* of another process */
        if (i == 2)
            continue;
        switch_recording(&s, ML_MARK_RESUME, 1000 * (i + 1) + 400);
        switch_recording(&s, ML_MARK_PAUSE, 1000 * (i + 1) + 500);
        switch_recording(&s, ML_MARK_RESUME, 1000 * (i + 1) + 700);
    }
    s.f.time_ns = 4000;
    born(&s, 0x9000, 10);
    r = read_steps(&s);
    assert_int_equal(r.steps.list.len, 3);
    assert_int_equal(r.steps.list.items[0].paused_ns, 0);
    assert_int_equal(r.steps.list.items[1].paused_ns, 300);
    assert_int_equal(r.steps.list.items[2].paused_ns, 700);
    assert_int_equal(ml_step_duration_ns(&r.steps.list.items[0]), 1000);
    assert_int_equal(ml_step_duration_ns(&r.steps.list.items[1]), 700);
    assert_int_equal(ml_step_duration_ns(&r.steps.list.items[2]), 300);
    assert_true(ml_steps_paused(&r.steps));
    release(&r);
}

static void each_step_has_its_own_peak(void **state)
{
    struct story s = story_begin();
    struct stepped r;
    const struct ml_step *list;

    (void)state;
    tell_three_steps(&s);
    story_event(&s, (struct ml_event){.kind = ML_PROCESS_END, .args = {0, 1}});
    r = read_steps(&s);
    list = r.steps.list.items;
    assert_int_equal(r.steps.list.len, 3);
    assert_int_equal(r.steps.peak_before_bytes, 5000);
    assert_int_equal(list[0].number, 0);
    assert_int_equal(list[0].peak_bytes, 1100);
    assert_int_equal(list[1].peak_bytes, 1600);
    assert_int_equal(list[2].peak_bytes, 1050);
    assert_int_equal(list[1].category_bytes[MEMLEDGER_PARAMETER], 1000);
    assert_int_equal(list[1].category_bytes[MEMLEDGER_ACTIVATION], 600);
    assert_int_equal(list[0].end_bytes, 1000);
    assert_int_equal(list[2].end_bytes, 1007); /* before its process ended */
    assert_int_equal(list[0].end_ns, list[1].begin_ns);
    assert_int_equal(list[0].allocations, 1);
    assert_int_equal(list[0].frees, 1);
    assert_int_equal(list[2].allocations, 2);
    assert_int_equal(list[1].device_count, 1);
    assert_int_equal(r.steps.devices.items[list[1].first_device].peak_bytes, 1600);
    assert_string_equal(r.steps.device_names.items[0], "cpu");
    assert_ptr_equal(ml_steps_highest(&r.steps), &list[1]);
    assert_ptr_equal(ml_steps_find(&r.steps, 2), &list[2]);
    assert_null(ml_steps_find(&r.steps, 3));
    release(&r);
}

static void a_step_can_be_gone_back_to(void **state)
{
    struct story s = story_begin();
    struct ml_replay replay;
    struct ml_error err = {0};
    struct stepped r;

    (void)state;
    tell_three_steps(&s);
    r = read_steps(&s);
    assert_int_equal(ml_replay_init(&replay, r.trace), 0);
    ml_replay_classify(&replay, &r.classes);
    assert_int_equal(ml_replay_trace(&replay, r.steps.list.items[1].peak_event, &err), 0);
    assert_int_equal(replay.bytes.live_bytes, 1600);
    ml_replay_release(&replay);
    assert_int_equal(ml_replay_init(&replay, r.trace), 0);
    assert_int_equal(ml_replay_trace(&replay, r.steps.list.items[2].end_event, &err), 0);
    assert_int_equal(replay.bytes.live_bytes, 1007);
    ml_replay_release(&replay);
    release(&r);
}

static void a_step_that_only_frees_peaks_at_its_beginning(void **state)
{
    struct story s = story_begin();
    struct stepped r;

    (void)state;
    born(&s, 0x1000, 300);
    step(&s, 7);
    dies(&s, 0x1000);
    step(&s, 8);
    r = read_steps(&s);
    assert_int_equal(r.steps.list.items[0].peak_bytes, 300);
    assert_int_equal(r.steps.list.items[0].peak_time_ns, r.steps.list.items[0].begin_ns);
    assert_int_equal(r.steps.list.items[0].category_bytes[MEMLEDGER_OTHER], 300);
    release(&r);
}

/* The end of the last step begins one more. */
static void an_end_without_allocations_is_no_step(void **state)
{
    struct story s = story_begin();
    struct stepped r;

    (void)state;
    tell_three_steps(&s);
    step(&s, 3);
    dies(&s, 0x3000);
    r = read_steps(&s);
    assert_int_equal(r.steps.list.len, 3);
    release(&r);
}

static uint64_t live_at(struct ml_trace *trace, const char *when)
{
    struct ml_instant instant;
    struct ml_error err = {0};
    struct ml_replay replay;
    struct ml_at at;
    uint64_t bytes;

    assert_true(ml_at_parse(when, &at));
    if (ml_instant_find(trace, &at, NULL, &instant, &err) < 0)
        return 0;
    assert_int_equal(ml_replay_init(&replay, trace), 0);
    assert_int_equal(ml_replay_trace(&replay, instant.event, &err), 0);
    bytes = replay.bytes.live_bytes;
    ml_replay_release(&replay);
    return bytes;
}

/* `count` steps of an optimizer, each followed by the mark of the next, and 50 bytes. */
static void tell_training(struct story *s, uint64_t count,
                          void (*mark_step)(struct story *, uint64_t))
{
    mark_step(s, 0);
    for (uint64_t i = 0; i < count; i++) {
        mark(s, "forward");
        born(s, 0x2000, 100 + i);
        dies(s, 0x2000);
        mark(s, "optimizer");
        mark(s, "");
        mark_step(s, i + 1);
    }
    born(s, 0x3000, 50);
}

static void what_follows_the_last_optimizer_step_is_none(void **state)
{
    void (*const sorts[])(struct story *, uint64_t) = {automatic_step, step};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct story s = story_begin();
        struct stepped r;

        tell_training(&s, 3, sorts[i]);
        r = read_steps(&s);
        assert_int_equal(r.steps.list.len, 3);
        assert_true(r.steps.has_after);
        assert_int_equal(r.steps.after.peak_bytes, 50);
        assert_int_equal(r.steps.after.allocations, 1);
        assert_int_equal(r.steps.after.begin_ns, r.steps.list.items[2].end_ns);
        assert_int_equal(live_at(r.trace, "step:2"), 102);
        assert_int_equal(live_at(r.trace, "step:3"), 0); /* there is none */
        release(&r);
    }
}

static void a_step_without_memory_for_it_is_one(void **state)
{
    struct story s = story_begin();
    struct stepped r;

    (void)state;
    tell_training(&s, 2, automatic_step);
    story_event(&s, (struct ml_event){.kind = ML_OOM, .size = 1 << 20});
    r = read_steps(&s);
    assert_int_equal(r.steps.list.len, 3);
    assert_false(r.steps.has_after);
    assert_int_equal(live_at(r.trace, "step:2"), 50);
    release(&r);
}

/* Its steps need not have an optimizer's each: gradients may add up. */
static void a_program_that_marks_steps_is_believed(void **state)
{
    struct story s = story_begin();
    struct stepped r;

    (void)state;
    for (uint64_t i = 0; i < 5; i++) {
        step(&s, i);
        born(&s, 0x1000 * (i + 1), 10);
        mark(&s, i % 2 ? "optimizer" : "forward");
    }
    r = read_steps(&s);
    assert_int_equal(r.steps.list.len, 5);
    assert_false(r.steps.has_after);
    release(&r);
}

/* A call of a module begins each: the last is as good as the others. */
static void inference_has_all_its_steps(void **state)
{
    struct story s = story_begin();
    struct stepped r;

    (void)state;
    for (uint64_t i = 0; i < 3; i++) {
        automatic_step(&s, i);
        mark(&s, "forward");
        born(&s, 0x1000 * (i + 1), 10);
    }
    r = read_steps(&s);
    assert_int_equal(r.steps.list.len, 3);
    assert_int_equal(live_at(r.trace, "step:2"), 30);
    release(&r);
}

/* A program calls its model, then makes an optimizer: its numbers begin again. */
static void calls_before_an_optimizer_are_no_steps(void **state)
{
    for (uint64_t calls = 1; calls < 4; calls++) {
        struct story s = story_begin();
        struct stepped r;

        for (uint64_t i = 0; i < calls; i++) {
            automatic_step(&s, i);
            born(&s, 0x1000 * (i + 1), 10);
        }
        for (uint64_t i = 0; i < 2; i++) {
            automatic_step(&s, i);
            born(&s, 0x10000 * (i + 1), 100);
            mark(&s, "optimizer");
        }
        automatic_step(&s, 2);
        r = read_steps(&s);
        assert_int_equal(r.steps.list.len, 2);
        assert_int_equal(r.steps.list.items[0].number, 0);
        assert_int_equal(live_at(r.trace, "step:0"), 10 * calls + 100);
        assert_int_equal(live_at(r.trace, "step:1"), 10 * calls + 200);
        release(&r);
    }
    (void)state;
}

static void the_first_process_to_mark_leads(void **state)
{
    struct story s = story_begin();
    struct stepped r;

    (void)state;
    fixture_process(&s.f, 1, 101, 0, ML_FORKED);
    ml_maker_thread(s.f.maker, 1, 101, ml_maker_string(s.f.maker, "rank 1"));
    step(&s, 0);
    s.thread = 1;
    step(&s, 0);
    step(&s, 1);
    s.thread = 0;
    step(&s, 1);
    story_event(&s, (struct ml_event){.kind = ML_PROCESS_END, .args = {1, 1}});
    born(&s, 0x1000, 100);
    r = read_steps(&s);
    assert_int_equal(r.steps.list.len, 2);
    assert_int_equal(r.steps.list.items[1].end_bytes, 100);
    release(&r);
}

/* Two ranks, whose steps begin and end at different times: rank 1 keeps 50 bytes a step. */
static void tell_two_ranks(struct story *s)
{
    uint32_t own = s->space;
    uint32_t other = fixture_space_of(&s->f, 1);

    for (uint64_t i = 0; i < 3; i++) {
        s->thread = 0;
        s->space = own;
        step(s, i);
        born(s, 0x1000, 1000);
        dies(s, 0x1000);
        s->thread = 1;
        s->space = other;
        step(s, i);
        born(s, 0x2000 + 0x1000 * i, 50);
        born(s, 0x1000, 200);
        dies(s, 0x1000);
    }
}

static struct ml_process_steps steps_by_process(const struct ml_trace *trace, uint32_t only_pid)
{
    const struct ml_process_steps_opts opts = {.caps = {.only_pid = only_pid}};
    struct ml_process_steps steps;
    struct ml_error err = {0};

    if (ml_process_steps(trace, &opts, &steps, &err) < 0)
        fail_msg("%s", err.text);
    return steps;
}

static void each_of_two_ranks_has_its_own_steps(void **state)
{
    struct story s = story_begin();
    struct ml_process_steps both, one;
    struct stepped r;

    (void)state;
    fixture_process(&s.f, 1, 101, 0, ML_FORKED);
    ml_maker_thread(s.f.maker, 1, 101, ml_maker_string(s.f.maker, "rank 1"));
    tell_two_ranks(&s);
    r = read_steps(&s);
    both = steps_by_process(r.trace, 0);
    assert_int_equal(both.list.len, 2);
    assert_int_equal(both.list.items[1].steps.pid, 101);
    for (uint64_t i = 0; i < 3; i++) {
        assert_int_equal(both.list.items[0].steps.list.items[i].peak_bytes, 1000);
        assert_int_equal(both.list.items[0].steps.list.items[i].end_bytes, 0);
        assert_int_equal(both.list.items[1].steps.list.items[i].peak_bytes, 50 * (i + 1) + 200);
        assert_int_equal(both.list.items[1].steps.list.items[i].end_bytes, 50 * (i + 1));
    }
    one = steps_by_process(r.trace, 101);
    assert_int_equal(one.list.len, 1);
    assert_int_equal(one.list.items[0].steps.list.items[0].begin_ns,
                     both.list.items[1].steps.list.items[0].begin_ns);
    ml_process_steps_release(&one);
    ml_process_steps_release(&both);
    release(&r);
}

/* Steps 0 to 2 by themselves, of which the program's first takes the last two's place. */
static void tell_both_sorts(struct story *s)
{
    for (uint64_t i = 0; i < 3; i++) {
        automatic_step(s, i);
        born(s, 0x1000 * (i + 1), 100);
    }
    step(s, 1);
    born(s, 0x5000, 10);
    step(s, 0); /* of the program, whatever its number */
    born(s, 0x6000, 10);
}

static void steps_of_the_program_take_over(void **state)
{
    struct story s = story_begin();
    struct stepped r;

    (void)state;
    tell_both_sorts(&s);
    r = read_steps(&s);
    assert_int_equal(r.steps.list.len, 3);
    assert_int_equal(r.steps.list.items[0].end_bytes, 100);
    assert_int_equal(r.steps.list.items[1].number, 1);
    assert_int_equal(r.steps.list.items[1].end_bytes, 310);
    assert_int_equal(r.steps.list.items[2].number, 0);
    release(&r);
}

static void an_instant_knows_the_same_steps(void **state)
{
    struct story s = story_begin();
    struct ml_trace *trace;

    (void)state;
    tell_both_sorts(&s);
    trace = fixture_open(&s.f);
    assert_int_equal(live_at(trace, "step:0"), 100);
    assert_int_equal(live_at(trace, "step:1"), 310);
    assert_int_equal(live_at(trace, "step:1:end"), 310);
    assert_int_equal(live_at(trace, "step:2"), 0);
    ml_trace_free(trace);
}

static void a_summary_has_the_same(void **state)
{
    struct story s = story_begin();
    struct ml_error err = {0};
    struct ml_summary summary;
    struct ml_trace *trace;

    (void)state;
    tell_three_steps(&s);
    trace = fixture_open(&s.f);
    assert_int_equal(ml_summarize(trace, &(struct ml_summary_opts){.top = 5}, &summary, &err), 0);
    assert_int_equal(summary.steps.list.len, 3);
    assert_int_equal(summary.steps.list.items[1].peak_bytes, 1600);
    assert_int_equal(summary.counted.peak_bytes, 5000); /* that of the whole is unmoved */
    assert_int_equal(summary.devices.items[0].counted.peak_bytes, 5000);
    assert_true(summary.has_modules);
    assert_int_equal(summary.named_bytes_at_peak, 0); /* neither module nor label then */
    ml_summary_release(&summary);
    ml_trace_free(trace);
}

static void peaks(struct story *s, uint64_t bytes)
{
    born(s, 0x2000, bytes);
    dies(s, 0x2000);
}

/* Step 0, an evaluation, steps 1 and 2, and another evaluation behind them. */
static void tell_evaluations(struct story *s)
{
    automatic_step(s, 0);
    peaks(s, 100);
    mark(s, "optimizer");
    automatic_step(s, 1);
    peaks(s, 900); /* its batch, before it is known */
    evaluation(s, 1);
    peaks(s, 800);
    evaluation(s, 1); /* nothing new */
    automatic_step(s, 1);
    peaks(s, 110);
    mark(s, "optimizer");
    automatic_step(s, 2);
    peaks(s, 120);
    mark(s, "optimizer");
    automatic_step(s, 3);
    evaluation(s, 3);
    peaks(s, 700);
}

static void an_evaluation_is_no_part_of_the_next_step(void **state)
{
    struct story s = story_begin();
    struct stepped r;

    (void)state;
    tell_evaluations(&s);
    r = read_steps(&s);
    assert_int_equal(r.steps.list.len, 3);
    assert_int_equal(r.steps.list.items[1].number, 1);
    assert_int_equal(r.steps.list.items[1].peak_bytes, 110);
    assert_int_equal(r.steps.list.items[1].allocations, 1);
    assert_int_equal(r.steps.evaluations.len, 1);
    assert_int_equal(r.steps.evaluations.items[0].number, 1);
    assert_int_equal(r.steps.evaluations.items[0].peak_bytes, 900);
    assert_int_equal(r.steps.evaluations.items[0].allocations, 2);
    assert_int_equal(r.steps.evaluations.items[0].begin_ns, r.steps.list.items[0].end_ns);
    assert_int_equal(r.steps.evaluations.items[0].end_ns, r.steps.list.items[1].begin_ns);
    assert_true(r.steps.has_after);
    assert_int_equal(r.steps.after.peak_bytes, 700);
    assert_int_equal(live_at(r.trace, "step:1"), 110);
    assert_int_equal(live_at(r.trace, "step:2"), 120);
    assert_int_equal(live_at(r.trace, "step:3"), 0);
    release(&r);
}

/* Whatever a file says: the mark of an evaluation needs the step that it precedes. */
static void an_evaluation_elsewhere_means_nothing(void **state)
{
    struct story s = story_begin();
    struct stepped r;

    (void)state;
    evaluation(&s, 0);
    automatic_step(&s, 0);
    peaks(&s, 100);
    evaluation(&s, 7);
    automatic_step(&s, 1);
    peaks(&s, 200);
    r = read_steps(&s);
    assert_int_equal(r.steps.list.len, 2);
    assert_int_equal(r.steps.evaluations.len, 0);
    release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_step_has_its_own_peak),
        cmocka_unit_test(a_pause_is_no_time_of_a_step),
        cmocka_unit_test(a_step_can_be_gone_back_to),
        cmocka_unit_test(a_step_that_only_frees_peaks_at_its_beginning),
        cmocka_unit_test(an_end_without_allocations_is_no_step),
        cmocka_unit_test(what_follows_the_last_optimizer_step_is_none),
        cmocka_unit_test(a_step_without_memory_for_it_is_one),
        cmocka_unit_test(a_program_that_marks_steps_is_believed),
        cmocka_unit_test(inference_has_all_its_steps),
        cmocka_unit_test(the_first_process_to_mark_leads),
        cmocka_unit_test(each_of_two_ranks_has_its_own_steps),
        cmocka_unit_test(steps_of_the_program_take_over),
        cmocka_unit_test(an_instant_knows_the_same_steps),
        cmocka_unit_test(a_summary_has_the_same),
        cmocka_unit_test(an_evaluation_is_no_part_of_the_next_step),
        cmocka_unit_test(calls_before_an_optimizer_are_no_steps),
        cmocka_unit_test(an_evaluation_elsewhere_means_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
