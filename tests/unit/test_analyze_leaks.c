/* test_analyze_leaks.c: what grows from step to step, and what only seems to.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_analyze_story.h"

#include <errno.h>

#include "breakdown.h"
#include "leaks.h"

#define KEPT UINT64_C(0x100000)

static struct ml_error err;
static const char *texts[8]; /* of the trace, see string_of */
static uint32_t numbers[8], count;

struct leaky {
    struct ml_trace *trace;
    struct ml_leaks leaks;
};

static struct leaky look(struct story *s, struct ml_leaks_opts opts)
{
    struct leaky l = {.trace = fixture_open(&s->f)};

    count = 0; /* the next test has a trace of its own */
    if (opts.top == 0)
        opts.top = 10;
    if (ml_leaks(l.trace, &opts, &l.leaks, &err) < 0)
        fail_msg("%s", err.text);
    return l;
}

static const struct ml_leaks_opts by_label = {
    .by = {ML_KEY_LABEL}, .by_count = 1, .warm_up = ML_LEAK_WARM_UP};

static void release(struct leaky *l)
{
    ml_leaks_release(&l->leaks);
    ml_trace_free(l->trace);
}

/* A string has one number in a trace, as the collector sees to. */
static uint32_t string_of(struct story *s, const char *text)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(texts[i], text) == 0)
            return numbers[i];
    assert_true(count < ML_ARRAY_SIZE(texts));
    texts[count] = text;
    numbers[count] = ml_maker_string(s->f.maker, text);
    return numbers[count++];
}

static void labelled(struct story *s, uint64_t addr, uint64_t size, const char *label)
{
    born(s, addr, size);
    story_event(s, (struct ml_event){.kind = ML_LABEL,
                                     .addr = addr,
                                     .args = {string_of(s, label), MEMLEDGER_OTHER}});
}

/* The table of what is live at the peak has these two modules alone. */
static void assert_one_row_each(const struct ml_trace *trace, const char *first, const char *second)
{
    struct ml_breakdown_opts opts = {.by = {ML_KEY_MODULE}, .by_count = 1, .top = 10};
    struct ml_breakdown table;

    assert_int_equal(ml_breakdown(trace, &opts, &table, &err), 0);
    assert_int_equal(table.groups.len, 2);
    assert_string_equal(table.groups.items[0].names[0], first);
    assert_string_equal(table.groups.items[1].names[0], second);
    ml_breakdown_release(&table);
}

/* nn.CrossEntropyLoss()(...) in the loop: each has a number of its own. */
static void modules_made_anew_are_one(void **state)
{
    static const char *const names[] = {"Loss",   "Loss#2", "Loss#3", "Loss#4",
                                        "Loss#5", "Loss#6", "Loss#7", "Loss#8"};
    struct story s = story_begin();
    struct leaky l;

    (void)state;
    for (uint64_t i = 0; i < ML_ARRAY_SIZE(names); i++) {
        uint32_t loss = story_module(&s, 0, names[i]);

        step(&s, i);
        enter(&s, loss);
        born(&s, KEPT + i * 4096, 100);
        enter(&s, story_module(&s, loss, "inner"));
        born(&s, KEPT * 2 + i * 4096, 20);
        leave_to(&s, loss);
        leave_to(&s, 0);
    }
    step(&s, ML_ARRAY_SIZE(names));
    l = look(&s, (struct ml_leaks_opts){
                     .by = {ML_KEY_MODULE}, .by_count = 1, .warm_up = ML_LEAK_WARM_UP});
    assert_int_equal(l.leaks.list.len, 2);
    assert_int_equal(l.leaks.found[ML_LEAK_STEADY], 2);
    assert_string_equal(l.leaks.list.items[0].names[0], "Loss");
    assert_string_equal(l.leaks.list.items[1].names[0], "Loss > inner");
    assert_true(l.leaks.list.items[0].bytes_per_step == 100);
    assert_one_row_each(l.trace, "Loss", "Loss > inner");
    release(&l);
}

/* Three models that are called in turn, in each step. */
static void modules_side_by_side_are_not_one(void **state)
{
    static const char *const names[] = {"Net", "Net#2", "Net#3"};
    struct story s = story_begin();
    uint32_t nets[ML_ARRAY_SIZE(names)];
    struct leaky l;

    (void)state;
    for (size_t i = 0; i < ML_ARRAY_SIZE(names); i++)
        nets[i] = story_module(&s, 0, names[i]);
    for (uint64_t i = 0; i < 24; i++) {
        if (i % 3 == 0)
            step(&s, i / 3);
        enter(&s, nets[i % 3]);
        born(&s, KEPT + i * 4096, 100);
        leave_to(&s, 0);
    }
    step(&s, 8);
    l = look(&s, (struct ml_leaks_opts){
                     .by = {ML_KEY_MODULE}, .by_count = 1, .warm_up = ML_LEAK_WARM_UP});
    assert_int_equal(l.leaks.list.len, 3);
    assert_string_equal(l.leaks.list.items[2].names[0], "Net#3");
    release(&l);
}

static void what_stays_in_every_step_is_steady(void **state)
{
    struct story s = story_begin();
    struct leaky l;
    const struct ml_leak *leak;

    (void)state;
    labelled(&s, 0x1000, 5000, "weights");
    for (uint64_t i = 0; i < 9; i++) {
        step(&s, i + 10);
        labelled(&s, 0x2000, 700, "output");
        labelled(&s, KEPT + i * 4096, 100, "kept");
        labelled(&s, KEPT * 2 + i * 4096, 20, "kept");
        dies(&s, 0x2000);
    }
    dies(&s, KEPT); /* when the program ends: in a step without an end */
    dies(&s, KEPT + 4096);
    l = look(&s, by_label);
    assert_int_equal(l.leaks.unit, ML_LEAK_BY_STEP);
    assert_int_equal(l.leaks.steps, 8);
    assert_int_equal(l.leaks.warm_up, 2);
    assert_int_equal(l.leaks.measured, 6);
    assert_int_equal(l.leaks.first_number, 12);
    assert_int_equal(l.leaks.last_number, 17);
    assert_int_equal(l.leaks.from_bytes, 5000 + 2 * 120);
    assert_int_equal(l.leaks.to_bytes, 5000 + 8 * 120);
    assert_int_equal(l.leaks.found[ML_LEAK_STEADY], 1);
    assert_int_equal(l.leaks.list.len, 1);
    leak = &l.leaks.list.items[0];
    assert_string_equal(leak->names[0], "kept");
    assert_int_equal(leak->sign, ML_LEAK_STEADY);
    assert_int_equal(leak->grew, 6);
    assert_int_equal(leak->fell, 0);
    assert_int_equal(leak->grown_bytes, 6 * 120);
    assert_int_equal(leak->grown_blocks, 12);
    assert_true(leak->bytes_per_step == 120 && leak->blocks_per_step == 2);
    assert_int_equal(leak->live_bytes, 8 * 120);
    release(&l);
}

/* A cache that holds the last three, state that the first steps make, and buffers that
 * every step replaces. */
/* Four that began by themselves, of which the program's first takes the place of three. */
static void steps_are_those_of_the_program(void **state)
{
    struct story s = story_begin();
    struct leaky l;

    (void)state;
    for (uint64_t i = 0; i < 10; i++) {
        if (i < 4)
            automatic_step(&s, i);
        else
            step(&s, i - 3);
        labelled(&s, KEPT + i * 4096, 100, "kept");
    }
    step(&s, 7);
    l = look(&s, by_label);
    assert_int_equal(l.leaks.steps, 7);
    assert_int_equal(l.leaks.first_number, 2);
    assert_int_equal(l.leaks.last_number, 6);
    assert_int_equal(l.leaks.list.len, 1);
    assert_true(l.leaks.list.items[0].bytes_per_step == 100);
    release(&l);
}

static void what_is_replaced_does_not_grow(void **state)
{
    struct story s = story_begin();
    struct leaky l;

    (void)state;
    for (uint64_t i = 0; i < 12; i++) {
        step(&s, i);
        labelled(&s, KEPT + i * 4096, 100, "cache");
        if (i >= 3)
            dies(&s, KEPT + (i - 3) * 4096);
        if (i < 2)
            labelled(&s, KEPT * 2 + i * 4096, 1000, "state");
        if (i > 0)
            dies(&s, 0x2000 + (i - 1) % 2 * 4096);
        labelled(&s, 0x2000 + i % 2 * 4096, 50 + i % 3, "buffer");
    }
    l = look(&s, (struct ml_leaks_opts){.by = {ML_KEY_LABEL}, .by_count = 1, .warm_up = 3});
    assert_int_equal(l.leaks.measured, 8);
    for (size_t i = 0; i < l.leaks.list.len; i++)
        fail_msg("%s grows", l.leaks.list.items[i].names[0]);
    release(&l);
}

/* Before the steps: blocks that they replace or free. */
static void fill(struct story *s, uint64_t blocks, const char *label)
{
    for (uint64_t i = 0; i < blocks; i++)
        labelled(s, KEPT + i * 4096, 100, label);
}

/* A cache that one function fills and another refreshes. */
static void a_block_for_one_of_another_group_is_no_growth(void **state)
{
    struct story s = story_begin();
    struct leaky l;

    (void)state;
    fill(&s, 20, "filled");
    for (uint64_t i = 0; i < 12; i++) {
        step(&s, i);
        if (i % 3 != 2) /* the end of a step may be between the two */
            dies(&s, KEPT + i * 4096);
        labelled(&s, KEPT * 2 + i * 4096, 100, "refreshed");
        if (i % 3 == 0 && i > 0)
            dies(&s, KEPT + (i - 1) * 4096);
    }
    l = look(&s, by_label);
    assert_int_equal(l.leaks.list.len, 0);
    release(&l);
}

static void a_cache_that_is_replaced_and_grows_leaks(void **state)
{
    struct story s = story_begin();
    struct leaky l;

    (void)state;
    fill(&s, 20, "filled");
    for (uint64_t i = 0; i < 12; i++) {
        step(&s, i);
        dies(&s, KEPT + i * 4096);
        labelled(&s, KEPT * 2 + i * 4096, 100, "refreshed");
        labelled(&s, KEPT * 3 + i * 4096, 100, "refreshed");
    }
    l = look(&s, by_label);
    assert_int_equal(l.leaks.list.len, 1);
    assert_int_equal(l.leaks.list.items[0].sign, ML_LEAK_STEADY);
    assert_int_equal(l.leaks.list.items[0].grown_bytes, l.leaks.measured * 100);
    assert_int_equal(l.leaks.list.items[0].grown_blocks, l.leaks.measured);
    release(&l);
}

/* One block of growing size, which each step replaces: by doubling, as a batch may, or by as much
 * each time, as a list that is copied to add to it. */
static enum ml_leak_sign sign_of_sizes(const uint64_t *sizes, size_t steps)
{
    struct story s = story_begin();
    enum ml_leak_sign sign;
    struct leaky l;

    for (size_t i = 0; i < steps; i++) {
        step(&s, i);
        if (i > 0)
            dies(&s, KEPT * i);
        labelled(&s, KEPT * (i + 1), sizes[i], "batch");
    }
    step(&s, steps);
    l = look(&s, by_label);
    assert_int_equal(l.leaks.list.len, 1);
    assert_int_equal(l.leaks.list.items[0].grown_blocks, 0);
    sign = l.leaks.list.items[0].sign;
    release(&l);
    return sign;
}

static void a_batch_that_doubles_is_no_leak(void **state)
{
    static const uint64_t doubled[] = {100, 200, 400, 800, 1600, 3200, 6400};
    static const uint64_t longer[] = {100, 200, 300, 401, 500, 600, 701};

    (void)state;
    for (size_t steps = 5; steps <= ML_ARRAY_SIZE(doubled); steps++) {
        assert_int_equal(sign_of_sizes(doubled, steps), ML_LEAK_MAYBE);
        assert_int_equal(sign_of_sizes(longer, steps), ML_LEAK_STEADY);
    }
}

/* Six steps of the program began in the pause: growth per step is that of all. */
static void steps_in_a_pause_count(void **state)
{
    struct story s = story_begin();
    struct leaky l;

    (void)state;
    for (uint64_t i = 0; i < 6; i++) {
        step(&s, 10 * i);
        labelled(&s, KEPT + i * 4096, 100, "kept");
    }
    story_event(&s, (struct ml_event){.kind = ML_MARK, .args = {ML_MARK_PAUSE, 1}});
    story_event(&s, (struct ml_event){.kind = ML_MARK, .args = {ML_MARK_RESUME, 1}});
    labelled(&s, KEPT * 2, 600, "kept"); /* of the pause */
    for (uint64_t i = 12; i < 15; i++) {
        step(&s, 10 * i);
        labelled(&s, KEPT + i * 4096, 100, "kept");
    }
    l = look(&s, by_label);
    assert_int_equal(l.leaks.measured, 6);
    assert_int_equal(l.leaks.paused, 6);
    assert_true(l.leaks.bytes_per_step == 100);
    assert_true(l.leaks.list.items[0].bytes_per_step == 100);
    release(&l);
}

/* The blocks that go have another size, come back, or all go at once. */
static void other_frees_do_not_hide_a_leak(void **state)
{
    static const char *const labels[] = {"smaller", "comes and goes", "freed at once"};

    (void)state;
    for (size_t how = 0; how < ML_ARRAY_SIZE(labels); how++) {
        struct story s = story_begin();
        struct leaky l;

        fill(&s, 20, labels[how]);
        for (uint64_t i = 0; i < 12; i++) {
            step(&s, i);
            labelled(&s, KEPT * 2 + i * 4096, how == 0 ? 101 : 100, "kept");
            if (how == 0)
                dies(&s, KEPT + i * 4096);
            else if (how == 1 && i % 3 == 0)
                dies(&s, KEPT);
            else if (how == 1 && i % 3 == 1)
                labelled(&s, KEPT, 100, labels[how]);
            for (uint64_t k = 0; how == 2 && i == 6 && k < 20; k++)
                dies(&s, KEPT + k * 4096);
        }
        l = look(&s, by_label);
        assert_int_equal(l.leaks.list.len, 1);
        assert_string_equal(l.leaks.list.items[0].names[0], "kept");
        assert_int_equal(l.leaks.list.items[0].sign, how == 2 ? ML_LEAK_LIKELY : ML_LEAK_STEADY);
        release(&l);
    }
}

static void a_list_that_is_filled_now_and_then_is_likely_a_leak(void **state)
{
    struct story s = story_begin();
    struct leaky l;

    (void)state;
    for (uint64_t i = 0; i < 30; i++) {
        step(&s, i);
        if (i % 5 == 0)
            labelled(&s, KEPT + i * 4096, 100, "evaluation");
        if (i < 6)
            labelled(&s, KEPT * 2 + i * 4096, 100, "filled at first");
        labelled(&s, KEPT * 3 + i * 4096, 100, "now less");
        if (i % 4 == 3)
            for (uint64_t k = 0; k < 2; k++)
                dies(&s, KEPT * 3 + (i - k) * 4096);
    }
    l = look(&s, by_label);
    assert_int_equal(l.leaks.list.len, 2);
    assert_string_equal(l.leaks.list.items[0].names[0], "evaluation");
    assert_int_equal(l.leaks.list.items[0].sign, ML_LEAK_LIKELY);
    assert_string_equal(l.leaks.list.items[1].names[0], "now less");
    assert_int_equal(l.leaks.list.items[1].sign, ML_LEAK_MAYBE);
    release(&l);
}

static void a_leak_comes_before_a_cache_that_fills_up(void **state)
{
    struct story s = story_begin();
    struct leaky l;

    (void)state;
    for (uint64_t i = 0; i < 20; i++) {
        step(&s, i);
        labelled(&s, KEPT + i * 4096, 100, "sessions");
        labelled(&s, KEPT * 2 + i * 4096, 4000 >> (i / 2), "cache");
    }
    l = look(&s, by_label);
    assert_int_equal(l.leaks.list.len, 2);
    assert_string_equal(l.leaks.list.items[0].names[0], "sessions");
    assert_string_equal(l.leaks.list.items[1].names[0], "cache");
    assert_true(l.leaks.list.items[1].grown_bytes > l.leaks.list.items[0].grown_bytes);
    release(&l);
}

static void the_first_step_is_warm_up_in_a_short_run(void **state)
{
    struct story s = story_begin();
    struct leaky l;

    (void)state;
    for (uint64_t i = 0; i < 3; i++) {
        step(&s, i);
        labelled(&s, KEPT + i * 4096, 100, "kept");
        if (i == 0)
            labelled(&s, 0x1000, 900, "state");
    }
    l = look(&s, by_label);
    assert_int_equal(l.leaks.steps, 2);
    assert_int_equal(l.leaks.warm_up, 1);
    assert_int_equal(l.leaks.list.len, 1);
    assert_string_equal(l.leaks.list.items[0].names[0], "kept");
    assert_int_equal(l.leaks.list.items[0].sign, ML_LEAK_MAYBE); /* of one step who knows */
    release(&l);
}

static void each_process_has_its_own(void **state)
{
    struct story s = story_begin();
    struct ml_leaks_opts opts = by_label;
    uint32_t own = s.space, other;
    struct leaky l;

    (void)state;
    opts.top = 10;
    fixture_process(&s.f, 1, 101, 0, ML_FORKED);
    ml_maker_thread(s.f.maker, 1, 101, ml_maker_string(s.f.maker, "rank 1"));
    other = fixture_space_of(&s.f, 1);
    for (uint64_t i = 0; i < 8; i++) {
        s.thread = 0;
        s.space = own;
        step(&s, i);
        labelled(&s, 0x2000, 10, "output");
        dies(&s, 0x2000);
        s.thread = 1;
        s.space = other;
        labelled(&s, KEPT + i * 4096, 100, "of another");
        step(&s, i);
    }
    l = look(&s, by_label);
    assert_int_equal(l.leaks.steps, 7);
    assert_int_equal(l.leaks.other_pids.len, 1);
    assert_int_equal(l.leaks.list.len, 0);
    ml_leaks_release(&l.leaks);
    opts.pid = 101;
    assert_int_equal(ml_leaks(l.trace, &opts, &l.leaks, &err), 0);
    assert_int_equal(l.leaks.steps, 7);
    assert_int_equal(l.leaks.other_pids.len, 1);
    assert_int_equal(l.leaks.list.len, 1);
    assert_string_equal(l.leaks.list.items[0].names[0], "of another");
    ml_leaks_release(&l.leaks);
    opts.pid = 7;
    assert_int_equal(ml_leaks(l.trace, &opts, &l.leaks, &err), -ENOENT);
    release(&l);
}

static void without_steps_time_is_cut_into_slices(void **state)
{
    struct story s = story_begin();
    struct leaky l;

    (void)state;
    for (uint64_t i = 0; i < 100; i++) {
        labelled(&s, KEPT + i * 4096, 10, "kept");
        labelled(&s, 0x2000, 10, "output");
        dies(&s, 0x2000);
    }
    l = look(&s, by_label);
    assert_int_equal(l.leaks.unit, ML_LEAK_BY_TIME);
    assert_int_equal(l.leaks.slices, 20);
    assert_int_equal(l.leaks.steps, 18); /* of 20 the first and the last have one end */
    assert_int_equal(l.leaks.found[ML_LEAK_STEADY], 1);
    assert_int_equal(l.leaks.found[ML_LEAK_LIKELY], 0); /* an end of a slice may see an output */
    assert_string_equal(l.leaks.list.items[0].names[0], "kept");
    assert_int_equal(l.leaks.list.items[0].sign, ML_LEAK_STEADY);
    release(&l);
}

/* The keys of a request, which become longer with each token: another block replaces them. */
static void add_token(struct story *s, uint64_t addr, uint64_t token)
{
    if (token > 0)
        dies(s, addr + token - 1);
    born(s, addr + token, 10 * (token + 1));
    story_event(s, (struct ml_event){.kind = ML_LABEL,
                                     .addr = addr + token,
                                     .args = {string_of(s, "keys"), MEMLEDGER_KV_CACHE}});
}

static void a_cache_that_becomes_longer_does_not_leak(void **state)
{
    struct story s = story_begin();
    struct leaky l;

    (void)state;
    enter(&s, story_module(&s, 0, "Net"));
    for (uint64_t token = 0; token < 200; token++)
        add_token(&s, KEPT, token);
    l = look(&s, by_label);
    assert_int_equal(l.leaks.unit, ML_LEAK_BY_TIME);
    assert_int_equal(l.leaks.list.len, 0);
    release(&l);
}

/* A server that keeps the caches of finished requests. */
static void caches_that_are_kept_leak(void **state)
{
    struct story s = story_begin();
    struct leaky l;

    (void)state;
    enter(&s, story_module(&s, 0, "Net"));
    for (uint64_t request = 0; request < 100; request++)
        for (uint64_t token = 0; token < 4; token++)
            add_token(&s, KEPT + request * 4096, token);
    l = look(&s, by_label);
    assert_int_equal(l.leaks.list.len, 1);
    assert_int_equal(l.leaks.list.items[0].sign, ML_LEAK_STEADY);
    release(&l);
}

/* A table that is allocated once, and blocks from before the first slice ends. */
static void what_was_never_freed_need_not_grow(void **state)
{
    struct story s = story_begin();
    struct leaky l;

    (void)state;
    for (uint64_t i = 0; i < 10; i++)
        labelled(&s, KEPT + i * 4096, 10, "kept");
    for (uint64_t i = 0; i < 300; i++) {
        if (i == 150)
            labelled(&s, 0x1000, 700, "table");
        labelled(&s, 0x2000, 10, "output");
        dies(&s, 0x2000);
    }
    l = look(&s, by_label);
    assert_int_equal(l.leaks.list.len, 0);
    assert_int_equal(l.leaks.left_bytes, 800);
    assert_int_equal(l.leaks.left_blocks, 11);
    assert_int_equal(l.leaks.left_groups, 2);
    assert_string_equal(l.leaks.left.items[0].names[0], "table");
    assert_int_equal(l.leaks.left.items[1].blocks, 10);
    release(&l);
}

/* Both grow; one of them is freed at the end, and one had blocks before the slices that count. */
static void growth_that_is_freed_at_the_end(void **state)
{
    struct story s = story_begin();
    struct leaky l;

    (void)state;
    labelled(&s, 0x1000, 5000, "freed");
    for (uint64_t i = 0; i < 100; i++) {
        labelled(&s, KEPT + i * 4096, 10, "kept");
        labelled(&s, 2 * KEPT + i * 4096, 20, "freed");
    }
    for (uint64_t i = 0; i < 100; i++)
        dies(&s, 2 * KEPT + i * 4096);
    l = look(&s, by_label);
    assert_true(l.leaks.list.len >= 2); /* and a block that has no label yet where a slice ends */
    assert_string_equal(l.leaks.list.items[0].names[0], "kept");
    assert_true(l.leaks.list.items[0].left_bytes == l.leaks.list.items[0].grown_bytes);
    assert_string_equal(l.leaks.list.items[1].names[0], "freed");
    assert_int_equal(l.leaks.list.items[1].left_bytes, 0);
    assert_int_equal(l.leaks.found_left_bytes, l.leaks.list.items[0].grown_bytes);
    assert_int_equal(l.leaks.left_bytes, 6000);
    assert_true(ml_leaks_know_left(&l.leaks));
    release(&l);
}

static void children_that_end_leave_nothing(void **state)
{
    struct story s = story_begin();
    uint32_t own = s.space;
    struct leaky l;

    (void)state;
    for (uint32_t i = 1; i < 40; i++) {
        fixture_process(&s.f, i, 100 + i, 0, ML_STARTED);
        s.space = fixture_space_of(&s.f, i);
        labelled(&s, KEPT, 1000, "a child's");
        labelled(&s, KEPT + 4096, 1000, "a child's");
        story_event(&s, (struct ml_event){.kind = ML_PROCESS_END, .args = {i, 1}});
        s.space = own;
        labelled(&s, 0x2000, 10, "output");
        dies(&s, 0x2000);
    }
    l = look(&s, by_label);
    assert_int_equal(l.leaks.unit, ML_LEAK_BY_TIME);
    assert_int_equal(l.leaks.list.len, 0);
    release(&l);
}

/* A mapping of ten pages each step, of which nine are given back a step later. */
static void what_is_given_back_in_part_counts_what_is_left(void **state)
{
    struct story s = story_begin();
    struct leaky l;

    (void)state;
    for (uint64_t i = 0; i < 10; i++) {
        step(&s, i);
        born(&s, KEPT * (i + 1), 40960);
        if (i > 0)
            fixture_free_range(&s.f, s.space, KEPT * i, 9 * 4096);
    }
    l = look(&s, (struct ml_leaks_opts){
                     .by = {ML_KEY_CATEGORY}, .by_count = 1, .warm_up = ML_LEAK_WARM_UP});
    assert_int_equal(l.leaks.list.len, 1);
    assert_true(l.leaks.list.items[0].bytes_per_step == 4096);
    assert_int_equal(l.leaks.to_bytes, 40960 + 8 * 4096);
    release(&l);
}

static void keys_come_from_what_the_trace_has(void **state)
{
    struct story s = story_begin();
    uint32_t frame = ml_maker_python_frame(s.f.maker, "train", "/home/u/train.py", 7);
    uint32_t stack = ml_maker_stack(s.f.maker, 0, frame);
    uint32_t net = story_module(&s, 0, "Net");
    struct leaky l;

    (void)state;
    for (uint64_t i = 0; i < 6; i++) {
        step(&s, i);
        enter(&s, net);
        story_event(&s, (struct ml_event){
                            .kind = ML_ALLOC, .addr = KEPT + i * 4096, .size = 64, .stack = stack});
        leave_to(&s, 0);
    }
    l = look(&s, (struct ml_leaks_opts){.warm_up = ML_LEAK_WARM_UP});
    assert_int_equal(l.leaks.by_count, 3);
    assert_int_equal(l.leaks.by[0], ML_KEY_LINE);
    assert_int_equal(l.leaks.list.len, 1);
    assert_string_equal(l.leaks.list.items[0].names[0], "u/train.py:7 train");
    assert_string_equal(l.leaks.list.items[0].names[1], "Net");
    assert_string_equal(l.leaks.list.items[0].names[2], "activation");
    assert_int_equal(l.leaks.list.items[0].stack.frames.len, 1);
    release(&l);
}

static void without_frees_nothing_can_be_said(void **state)
{
    struct story s = story_begin();
    struct ml_leaks leaks;
    struct ml_trace *trace;

    (void)state;
    ml_maker_setting(s.f.maker, ML_SETTING_IMPORT_FORMAT, "mxnet-csv");
    ml_maker_setting(s.f.maker, ML_SETTING_IMPORT_UNKNOWN, "frees");
    born(&s, 0x1000, 10);
    trace = fixture_open(&s.f);
    assert_int_equal(ml_leaks(trace, &(struct ml_leaks_opts){.top = 1}, &leaks, &err), -EINVAL);
    assert_non_null(strstr(err.text, "contains no frees"));
    ml_leaks_release(&leaks);
    ml_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_stays_in_every_step_is_steady),
        cmocka_unit_test(modules_made_anew_are_one),
        cmocka_unit_test(modules_side_by_side_are_not_one),
        cmocka_unit_test(steps_are_those_of_the_program),
        cmocka_unit_test(what_is_replaced_does_not_grow),
        cmocka_unit_test(a_block_for_one_of_another_group_is_no_growth),
        cmocka_unit_test(a_cache_that_is_replaced_and_grows_leaks),
        cmocka_unit_test(a_batch_that_doubles_is_no_leak),
        cmocka_unit_test(steps_in_a_pause_count),
        cmocka_unit_test(other_frees_do_not_hide_a_leak),
        cmocka_unit_test(a_list_that_is_filled_now_and_then_is_likely_a_leak),
        cmocka_unit_test(a_leak_comes_before_a_cache_that_fills_up),
        cmocka_unit_test(the_first_step_is_warm_up_in_a_short_run),
        cmocka_unit_test(each_process_has_its_own),
        cmocka_unit_test(without_steps_time_is_cut_into_slices),
        cmocka_unit_test(a_cache_that_becomes_longer_does_not_leak),
        cmocka_unit_test(caches_that_are_kept_leak),
        cmocka_unit_test(what_was_never_freed_need_not_grow),
        cmocka_unit_test(growth_that_is_freed_at_the_end),
        cmocka_unit_test(children_that_end_leave_nothing),
        cmocka_unit_test(what_is_given_back_in_part_counts_what_is_left),
        cmocka_unit_test(keys_come_from_what_the_trace_has),
        cmocka_unit_test(without_frees_nothing_can_be_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
