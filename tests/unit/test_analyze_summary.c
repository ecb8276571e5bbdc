/* test_analyze_summary.c: the figures of a summary, and runs side by side.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_analyze_fixture.h"

#include <math.h>

#include "compare.h"
#include "cuda_spaces.h"
#include "summary.h"

static struct ml_summary summarize(struct ml_trace *trace, size_t top)
{
    struct ml_summary summary;
    struct ml_error err = {0};

    if (ml_summarize(trace, &(struct ml_summary_opts){.top = top}, &summary, &err) < 0)
        fail_msg("%s", err.text);
    return summary;
}

/* Two scopes, conv and conv > weight; the peak holds all three blocks. */
static struct ml_trace *layered_trace(void)
{
    struct fixture f = fixture_begin();
    uint32_t conv =
        ml_maker_scope(f.maker, 0, MEMLEDGER_SCOPE_MODULE, ml_maker_string(f.maker, "conv"));
    uint32_t inner =
        ml_maker_scope(f.maker, conv, MEMLEDGER_SCOPE_USER, ml_maker_string(f.maker, "weight"));

    fixture_event(
        &f, (struct ml_event){.kind = ML_ALLOC, .space = f.block, .addr = 0x1000, .size = 600});
    fixture_event(
        &f, (struct ml_event){
                .kind = ML_ALLOC, .space = f.block, .scope = inner, .addr = 0x2000, .size = 300});
    fixture_label(&f, f.block, 0x2000, "w", MEMLEDGER_PARAMETER);
    fixture_event(
        &f, (struct ml_event){
                .kind = ML_ALLOC, .space = f.block, .scope = conv, .addr = 0x3000, .size = 100});
    /* named after the peak was reached */
    fixture_label(&f, f.block, 0x3000, "out", MEMLEDGER_ACTIVATION);
    fixture_free(&f, f.block, 0x3000);
    fixture_free(&f, f.block, 0x1000);
    return fixture_open(&f);
}

/* Both are older than the recording, so neither has a scope. */
static void a_parameter_and_its_gradient_are_two(void **state)
{
    struct fixture f = fixture_begin();
    struct ml_trace *trace;
    struct ml_summary s;
    uint32_t label;

    (void)state;
    for (uint64_t i = 0; i < 3; i++)
        fixture_event(&f, (struct ml_event){.kind = ML_ALLOC,
                                            .space = f.block,
                                            .addr = 0x1000 * (i + 1),
                                            .size = 400 - 100 * (i / 2)});
    label = ml_maker_string(f.maker, "w");
    for (uint64_t i = 0; i < 3; i++)
        fixture_event(&f, (struct ml_event){
                              .kind = ML_LABEL,
                              .space = f.block,
                              .addr = 0x1000 * (i + 1),
                              .args = {label, i == 0 ? MEMLEDGER_PARAMETER : MEMLEDGER_GRADIENT}});
    fixture_free(&f, f.block, 0x1000);
    trace = fixture_open(&f);
    s = summarize(trace, 10);
    assert_int_equal(s.labels.total, 2);
    assert_string_equal(s.labels.list.items[0].category, "gradient");
    assert_int_equal(s.labels.list.items[0].at_peak_bytes, 700);
    assert_int_equal(s.labels.list.items[0].at_peak_blocks, 2);
    assert_int_equal(s.labels.list.items[0].left_bytes, 700);
    assert_string_equal(s.labels.list.items[1].category, "parameter");
    assert_int_equal(s.labels.list.items[1].at_peak_bytes, 400);
    assert_int_equal(s.labels.list.items[1].left_bytes, 0);
    ml_summary_release(&s);
    ml_trace_free(trace);
}

static void totals_are_those_of_the_books(void **state)
{
    struct ml_trace *trace = layered_trace();
    struct ml_summary s = summarize(trace, 10);

    (void)state;
    assert_int_equal(s.counted.allocations, 3);
    assert_int_equal(s.counted.frees, 2);
    assert_int_equal(s.counted.allocated_bytes, 1000);
    assert_int_equal(s.counted.peak_bytes, 1000);
    assert_int_equal(s.counted.peak_time_ns, 30);
    assert_int_equal(s.counted.live_bytes, 300);
    assert_int_equal(s.counted.live_blocks, 1);
    assert_int_equal(s.duration_ns, 60);
    assert_int_equal(s.events, 7);
    assert_int_equal(s.threads, 1);
    assert_int_equal(s.health.lost, 0);
    assert_int_equal(s.devices.len, 1);
    assert_string_equal(s.devices.items[0].name, "cpu");
    assert_int_equal(s.devices.items[0].counted.peak_bytes, 1000);
    assert_true(s.devices.items[0].has_level[MEMLEDGER_BLOCK]);
    assert_int_equal(s.processes.len, 1);
    assert_int_equal(s.processes.items[0].pid, 100);
    assert_string_equal(s.processes.items[0].command, "program");
    assert_int_equal(s.processes.items[0].counted.peak_bytes, 1000);
    ml_summary_release(&s);
    ml_trace_free(trace);
}

static void the_peak_is_taken_apart(void **state)
{
    struct ml_trace *trace = layered_trace();
    struct ml_summary s = summarize(trace, 2);

    (void)state;
    assert_int_equal(s.categories.len, 3);
    assert_string_equal(s.categories.items[0].name, "other");
    assert_int_equal(s.categories.items[0].at_peak_bytes, 600);
    assert_string_equal(s.categories.items[1].name, "parameter");
    assert_int_equal(s.categories.items[1].live_bytes, 300);
    assert_string_equal(s.categories.items[2].name, "activation");
    assert_int_equal(s.categories.items[2].at_peak_bytes, 100);
    assert_true(fabs(s.categories.items[2].at_peak_percent - 10) < 1e-9);
    assert_int_equal(s.categories.items[2].allocations, 1);
    assert_int_equal(s.categories.items[2].frees, 1);
    assert_int_equal(s.scopes.total, 3);
    assert_int_equal(s.scopes.list.len, 2);
    assert_string_equal(s.scopes.list.items[0].scope, "");
    assert_string_equal(s.scopes.list.items[1].scope, "conv > weight");
    assert_int_equal(s.scopes.list.items[1].at_peak_bytes, 300);
    assert_int_equal(s.scopes.list.items[1].live_bytes, 300);
    assert_int_equal(s.labels.total, 2);
    assert_string_equal(s.labels.list.items[0].label, "w");
    assert_string_equal(s.labels.list.items[1].label, "out");
    assert_string_equal(s.labels.list.items[1].scope, "conv");
    ml_summary_release(&s);
    ml_trace_free(trace);
}

static void processes_tell_how_they_ended(void **state)
{
    struct fixture f = fixture_begin();
    struct ml_trace *trace;
    struct ml_summary s;

    (void)state;
    fixture_process(&f, 1, 101, 0, ML_FORKED);
    fixture_process(&f, 2, 102, 0, ML_EXECED);
    fixture_event(&f, (struct ml_event){.kind = ML_PROCESS_END, .args = {1, 1 + (3 << 8)}});
    fixture_event(&f, (struct ml_event){.kind = ML_PROCESS_END, .args = {2, 1 + 9}});
    trace = fixture_open(&f);
    s = summarize(trace, 10);
    assert_int_equal(s.processes.len, 3);
    assert_int_equal(s.process_count, 2); /* 102 is 100's next image */
    assert_int_equal(s.processes.items[0].ending, ML_ENDING_EXEC);
    assert_int_equal(s.processes.items[1].ending, ML_ENDING_EXIT);
    assert_int_equal(s.processes.items[1].exit_code, 3);
    assert_string_equal(s.processes.items[1].how, "forked");
    assert_int_equal(s.processes.items[2].ending, ML_ENDING_SIGNAL);
    assert_int_equal(s.processes.items[2].signal, 9);
    ml_summary_release(&s);
    ml_trace_free(trace);
}

static void an_empty_trace_has_a_summary(void **state)
{
    struct fixture f = fixture_begin();
    struct ml_trace *trace = fixture_open(&f);
    struct ml_summary s = summarize(trace, 10);

    (void)state;
    assert_int_equal(s.counted.peak_bytes, 0);
    assert_int_equal(s.devices.len, 0);
    assert_int_equal(s.scopes.total, 0);
    ml_summary_release(&s);
    ml_trace_free(trace);
}

static void the_drivers_own_is_not_left_behind(void **state)
{
    struct fixture f = fixture_begin();
    uint32_t gpu = ml_maker_string(f.maker, "cuda:0");
    uint32_t context = ml_maker_space(f.maker, 0, gpu, MEMLEDGER_DRIVER,
                                      ml_maker_string(f.maker, ML_CUDA_CONTEXT));
    uint32_t memory =
        ml_maker_space(f.maker, 0, gpu, MEMLEDGER_DRIVER, ml_maker_string(f.maker, ML_CUDA_MEMORY));
    struct ml_error err = {0};
    struct ml_trace *trace;
    struct ml_summary s;

    (void)state;
    fixture_alloc(&f, context, 0x1000, 500);
    fixture_alloc(&f, memory, 0x8000, 30);
    trace = fixture_open(&f);
    assert_int_equal(ml_summarize(trace, &(struct ml_summary_opts){.top = 1}, &s, &err), 0);
    assert_int_equal(s.counted.live_bytes, 530);
    assert_int_equal(s.counted.left_bytes, 30);
    assert_int_equal(s.counted.left_blocks, 1);
    assert_int_equal(s.devices.items[0].counted.left_bytes, 30);
    assert_int_equal(s.categories.items[0].live_bytes, 530);
    assert_int_equal(s.categories.items[0].left_bytes, 30);
    assert_int_equal(s.scopes.list.items[0].live_bytes, 530);
    assert_int_equal(s.scopes.list.items[0].left_bytes, 30);
    ml_summary_release(&s);
    ml_trace_free(trace);
}

/* ---- Comparing --------------------------------------------------------- */

static struct ml_summary fake_summary(uint64_t peak, uint64_t parameter)
{
    struct ml_summary s = {.counted = {.peak_bytes = peak, .allocations = 10}};
    struct ml_summary_category c = {
        .category = MEMLEDGER_PARAMETER, .name = "parameter", .at_peak_bytes = parameter};

    assert_int_equal(ml_vec_push(&s.categories, c), 0);
    return s;
}

static void runs_stand_by_their_increase(void **state)
{
    struct ml_summary s[] = {fake_summary(200, 50), fake_summary(100, 50), fake_summary(500, 0),
                             fake_summary(200, 80)};
    struct ml_compare_input inputs[] = {{"a", "a.mled", &s[0], NULL},
                                        {"b", "b.mled", &s[1], NULL},
                                        {"c", "c.mled", &s[2], NULL},
                                        {"d", "d.mled", &s[3], NULL}};
    struct ml_error err = {0};
    struct ml_compare c;

    (void)state;
    assert_int_equal(ml_compare(inputs, 4, NULL, &c, &err), 0);
    assert_string_equal(c.runs.items[0].name, "a");
    assert_string_equal(c.runs.items[1].name, "c");
    assert_string_equal(c.runs.items[2].name, "d");
    assert_string_equal(c.runs.items[3].name, "b");
    assert_int_equal(c.runs.items[1].peak.difference, 300);
    assert_true(fabs(c.runs.items[1].peak.percent - 150) < 1e-9);
    assert_int_equal(c.runs.items[3].peak.difference, -100);
    assert_true(fabs(c.worst_increase_percent - 150) < 1e-9);
    assert_int_equal(c.categories.len, 1);
    assert_int_equal(c.categories.items[0].at_peak[1].value, 0);
    assert_int_equal(c.categories.items[0].at_peak[2].difference, 30);
    assert_int_equal(c.categories.items[0].largest_change, 50);
    ml_compare_release(&c);
    for (size_t i = 0; i < 4; i++)
        ml_summary_release(&s[i]);
}

static void add_fake_device(struct ml_summary *s, const char *name, uint64_t peak)
{
    struct ml_summary_device d = {.name = name, .counted = {.peak_bytes = peak}};

    assert_int_equal(ml_vec_push(&s->devices, d), 0);
}

/* Memory of the host does not make up for what a GPU lacks. */
static void devices_are_judged_one_by_one(void **state)
{
    struct ml_summary s[] = {fake_summary(1100, 0), fake_summary(700, 0)};
    struct ml_compare_input inputs[] = {{"a", "a", &s[0], NULL}, {"b", "b", &s[1], NULL}};
    struct ml_error err = {0};
    struct ml_compare c;

    (void)state;
    add_fake_device(&s[0], "cpu", 1000);
    add_fake_device(&s[0], "cuda:0", 100);
    add_fake_device(&s[1], "cpu", 500);
    add_fake_device(&s[1], "cuda:0", 150);
    add_fake_device(&s[1], "cuda:1", 50);
    assert_int_equal(ml_compare(inputs, 2, NULL, &c, &err), 0);
    assert_int_equal(c.devices.len, 3);
    assert_string_equal(c.devices.items[1].name, "cuda:0");
    assert_int_equal(c.devices.items[1].peak[1].difference, 50);
    assert_true(fabs(c.worst_increase_percent - 50) < 1e-9);
    ml_compare_release(&c);
    ml_summary_release(&s[0]);
    ml_summary_release(&s[1]);
}

static void from_nothing_has_no_percentage(void **state)
{
    struct ml_summary s[] = {fake_summary(0, 0), fake_summary(100, 1)};
    struct ml_compare_input inputs[] = {{"a", "a", &s[0], NULL}, {"b", "b", &s[1], NULL}};
    struct ml_error err = {0};
    struct ml_compare c;

    (void)state;
    assert_int_equal(ml_compare(inputs, 2, NULL, &c, &err), 0);
    assert_true(isinf(c.runs.items[1].peak.percent));
    assert_true(c.runs.items[0].peak.percent == 0);
    ml_compare_release(&c);
    ml_summary_release(&s[0]);
    ml_summary_release(&s[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_parameter_and_its_gradient_are_two),
        cmocka_unit_test(totals_are_those_of_the_books),
        cmocka_unit_test(the_peak_is_taken_apart),
        cmocka_unit_test(processes_tell_how_they_ended),
        cmocka_unit_test(an_empty_trace_has_a_summary),
        cmocka_unit_test(the_drivers_own_is_not_left_behind),
        cmocka_unit_test(runs_stand_by_their_increase),
        cmocka_unit_test(devices_are_judged_one_by_one),
        cmocka_unit_test(from_nothing_has_no_percentage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
