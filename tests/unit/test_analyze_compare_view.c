/* test_analyze_compare_view.c: runs entry by entry, by step and by phase.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_analyze_story.h"

#include <errno.h>
#include <math.h>

#include "compare_view.h"

#define RUNS 3

static struct ml_error err;

/* A training run: a weight, and in each step an output in the module. */
struct recipe {
    const char *module;
    uint64_t first_step, steps;
    uint64_t weight, output, growth;
};

static struct ml_trace *train(struct recipe r)
{
    struct story s = story_begin();
    uint32_t net = story_module(&s, 0, "Net"), part = story_module(&s, net, r.module);

    born(&s, 0x1000, r.weight);
    name(&s, 0x1000, "w", MEMLEDGER_PARAMETER);
    for (uint64_t i = 0; i < r.steps; i++) {
        step(&s, r.first_step + i);
        mark(&s, "forward");
        enter(&s, net);
        enter(&s, part);
        born(&s, 0x2000, r.output + i * r.growth);
        leave_to(&s, net);
        leave_to(&s, 0);
        mark(&s, "backward");
        born(&s, 0x3000, 10);
        dies(&s, 0x2000);
        dies(&s, 0x3000);
        mark(&s, "");
    }
    return fixture_open(&s.f);
}

struct compared {
    struct ml_trace *traces[RUNS];
    struct ml_summary summaries[RUNS];
    struct ml_compare_input inputs[RUNS];
    struct ml_compare compare;
    struct ml_compare_view view;
    size_t count;
    int result;
};

static void compare(struct compared *c, const struct recipe *recipes, size_t count,
                    struct ml_compare_view_opts opts)
{
    static const char *const names[] = {"a", "b", "c"};

    *c = (struct compared){.count = count};
    for (size_t i = 0; i < count; i++) {
        c->traces[i] = train(recipes[i]);
        assert_int_equal(
            ml_summarize(c->traces[i], &(struct ml_summary_opts){.top = 0}, &c->summaries[i], &err),
            0);
        c->inputs[i] =
            (struct ml_compare_input){names[i], names[i], &c->summaries[i], c->traces[i]};
    }
    assert_int_equal(ml_compare(c->inputs, count, NULL, &c->compare, &err), 0);
    if (opts.top == 0)
        opts.top = 100;
    c->result = ml_compare_view(c->inputs, &c->compare, &opts, &c->view, &err);
}

static void release(struct compared *c)
{
    ml_compare_view_release(&c->view);
    ml_compare_release(&c->compare);
    for (size_t i = 0; i < c->count; i++) {
        ml_summary_release(&c->summaries[i]);
        ml_trace_free(c->traces[i]);
    }
}

static const struct ml_compare_view_opts by_module = {.by = {ML_KEY_MODULE}, .by_count = 1};

static void entries_meet_by_name(void **state)
{
    const struct recipe recipes[] = {{"fc", 0, 2, 1000, 500, 0}, {"conv", 0, 5, 1000, 800, 0}};
    struct compared c;

    (void)state;
    compare(&c, recipes, 2, by_module);
    assert_int_equal(c.result, 0);
    assert_int_equal(c.view.entries.len, 4); /* also the model's own, and what is in none */
    assert_string_equal(c.view.entries.items[0].names[0], "Net > conv");
    assert_int_equal(c.view.entries.items[0].cells[0].change.value, 0);
    assert_int_equal(c.view.entries.items[0].cells[1].change.difference, 800);
    assert_true(isinf(c.view.entries.items[0].cells[1].change.percent));
    assert_string_equal(c.view.entries.items[1].names[0], "Net > fc");
    assert_int_equal(c.view.entries.items[1].cells[1].change.difference, -500);
    assert_int_equal(c.view.entries.items[2].largest_change, 0);
    assert_int_equal(c.view.worst_run, 1);
    assert_string_equal(c.view.worst.names[0], "Net > conv");
    release(&c);
}

static void small_changes_can_be_passed_over(void **state)
{
    const struct recipe recipes[] = {{"fc", 0, 2, 1000, 500, 0}, {"fc", 0, 2, 9000, 508, 0}};
    struct ml_compare_view_opts opts = {
        .by = {ML_KEY_CATEGORY, ML_KEY_LABEL}, .by_count = 2, .min_change_bytes = 100};
    struct compared c;

    (void)state;
    compare(&c, recipes, 2, opts);
    assert_int_equal(c.view.entries.len, 1);
    assert_string_equal(c.view.entries.items[0].names[0], "parameter");
    assert_string_equal(c.view.entries.items[0].names[1], "w");
    assert_int_equal(c.view.rest_count, 2);
    assert_int_equal(c.view.rest.cells[1].change.difference, 8);
    assert_true(c.view.worst.cells[1].change.percent == 800);
    release(&c);
}

static void the_default_is_what_the_summaries_have(void **state)
{
    const struct recipe recipes[] = {{"fc", 0, 2, 1000, 500, 0}, {"fc", 0, 2, 1000, 700, 0}};
    struct compared c;

    (void)state;
    compare(&c, recipes, 2, (struct ml_compare_view_opts){.by = {ML_KEY_CATEGORY}, .by_count = 1});
    assert_string_equal(c.view.entries.items[0].names[0], "activation");
    assert_int_equal(c.view.entries.items[0].cells[1].change.difference, 200);
    assert_int_equal(c.view.entries.len, c.compare.categories.len);
    release(&c);
}

static void steps_meet_by_number(void **state)
{
    const struct recipe recipes[] = {
        {"fc", 0, 4, 1000, 500, 0}, {"fc", 2, 4, 1000, 500, 100}, {"fc", 0, 1, 1000, 400, 0}};
    struct compared c;
    size_t longest;

    (void)state;
    compare(&c, recipes, 3, (struct ml_compare_view_opts){.rows = ML_COMPARE_STEPS});
    longest = c.compare.runs.items[1].given == 1 ? 1 : 2;
    assert_false(c.view.by_position);
    assert_int_equal(c.view.entries.len, 6);
    assert_int_equal(c.view.entries.items[0].number, 0);
    assert_false(c.view.entries.items[0].cells[longest].known);
    assert_int_equal(c.view.entries.items[3].cells[0].change.value, 1510);
    assert_int_equal(c.view.entries.items[3].cells[longest].change.difference, 100);
    assert_false(c.view.entries.items[5].cells[0].known);
    assert_int_equal(c.view.entries.items[5].cells[longest].change.value, 1810);
    assert_int_equal(c.view.entries.items[5].largest_change, 0); /* to nothing that is known */
    assert_int_equal(c.view.worst.number, 3);
    release(&c);
}

static void the_steps_that_changed_most_are_listed_in_order(void **state)
{
    const struct recipe recipes[] = {{"fc", 0, 6, 1000, 500, 0}, {"fc", 0, 6, 1000, 500, 10}};
    struct compared c;

    (void)state;
    compare(&c, recipes, 2, (struct ml_compare_view_opts){.rows = ML_COMPARE_STEPS, .top = 2});
    assert_int_equal(c.view.entries.len, 2);
    assert_int_equal(c.view.entries.items[0].number, 4);
    assert_int_equal(c.view.entries.items[1].number, 5);
    assert_int_equal(c.view.rest_count, 4);
    release(&c);
}

static void steps_without_a_common_number_meet_by_place(void **state)
{
    const struct recipe recipes[] = {{"fc", 0, 3, 1000, 500, 0}, {"fc", 100, 2, 1000, 700, 0}};
    struct compared c;

    (void)state;
    compare(&c, recipes, 2, (struct ml_compare_view_opts){.rows = ML_COMPARE_STEPS});
    assert_true(c.view.by_position);
    assert_int_equal(c.view.entries.len, 3);
    assert_int_equal(c.view.entries.items[1].cells[1].change.difference, 200);
    assert_false(c.view.entries.items[2].cells[1].known);
    release(&c);
}

static void phases_have_their_highest(void **state)
{
    const struct recipe recipes[] = {{"fc", 0, 3, 1000, 500, 50}, {"fc", 0, 5, 1000, 500, 50}};
    struct compared c;

    (void)state;
    compare(&c, recipes, 2, (struct ml_compare_view_opts){.rows = ML_COMPARE_PHASES});
    assert_int_equal(c.view.entries.len, 3);
    assert_string_equal(c.view.entries.items[0].names[0], "");
    assert_string_equal(c.view.entries.items[1].names[0], "forward");
    assert_int_equal(c.view.entries.items[1].cells[0].change.value, 1600);
    assert_int_equal(c.view.entries.items[1].cells[1].change.value, 1700);
    assert_string_equal(c.view.entries.items[2].names[0], "backward");
    assert_int_equal(c.view.entries.items[2].cells[0].change.value, 1610);
    release(&c);
}

static void an_instant_that_a_run_lacks_is_named(void **state)
{
    const struct recipe recipes[] = {{"fc", 0, 3, 1000, 500, 0}, {"fc", 0, 2, 1000, 700, 0}};
    struct ml_compare_view_opts opts = by_module;
    struct compared c;

    (void)state;
    opts.at = (struct ml_at){.kind = ML_AT_STEP, .number = 2};
    compare(&c, recipes, 2, opts);
    assert_int_equal(c.result, -ENOENT);
    assert_non_null(strstr(err.text, "b: there is no step 2"));
    release(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_meet_by_name),
        cmocka_unit_test(small_changes_can_be_passed_over),
        cmocka_unit_test(the_default_is_what_the_summaries_have),
        cmocka_unit_test(steps_meet_by_number),
        cmocka_unit_test(the_steps_that_changed_most_are_listed_in_order),
        cmocka_unit_test(steps_without_a_common_number_meet_by_place),
        cmocka_unit_test(phases_have_their_highest),
        cmocka_unit_test(an_instant_that_a_run_lacks_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
