/* test_analyze_oom.c: analysis and reports when memory runs out: fail the Nth
 * allocation and all after it, for every N, until all of it works.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_analyze_fixture.h"

#include <errno.h>

#include "breakdown.h"
#include "breakdown_report.h"
#include "compare.h"
#include "compare_report.h"
#include "cuda_spaces.h"
#include "events.h"
#include "events_report.h"
#include "fail_nth.h"
#include "fragmentation_report.h"
#include "groups_report.h"
#include "leaks_report.h"
#include "ledger.h"
#include "ledger_report.h"
#include "module_tree.h"
#include "module_tree_report.h"
#include "mxnet_report.h"
#include "oom_report.h"
#include "plot_bands.h"
#include "plot_overlay.h"
#include "plots.h"
#include "pool_entries.h"
#include "sample_curves.h"
#include "stats.h"
#include "stats_report.h"
#include "steps_report.h"
#include "summary.h"
#include "summary_report.h"
#include "tbd_report.h"
#include "temporary_report.h"
#include "timeline.h"

static const struct ml_style style = {.width = 80};
static const struct ml_event_columns event_columns = {
    .time = 10, .thread = 7, .space = 18, .narrow = true};

static int run_summary(const struct ml_trace *trace)
{
    struct ml_error err = {0};
    struct ml_summary s;
    struct ml_buf out;
    int r = ml_summarize(trace, &(struct ml_summary_opts){.top = 10}, &s, &err);

    ml_buf_init(&out);
    if (r == 0)
        r = ml_summary_text(&s, "f", &style, &out);
    if (r == 0)
        r = ml_summary_json(&s, "f", &out);
    ml_summary_release(&s);
    ml_buf_release(&out);
    return r;
}

static int run_stats(const struct ml_trace *trace)
{
    struct ml_error err = {0};
    struct ml_stats s;
    struct ml_buf out;
    int r = ml_measure(trace, &(struct ml_stats_opts){.top = 10}, &s, &err);

    ml_buf_init(&out);
    if (r == 0)
        r = ml_stats_text(&s, "f", &style, &out);
    if (r == 0)
        r = ml_stats_json(&s, "f", &out);
    ml_stats_release(&s);
    ml_buf_release(&out);
    return r;
}

/* Everything that is told of one instant. */
static int run_modules(const struct ml_trace *trace)
{
    struct ml_breakdown_opts opts = {.top = 2};
    struct ml_breakdown breakdown = {0};
    struct ml_module_tree tree = {0};
    struct ml_layers layers = {0};
    struct ml_error err = {0};
    struct ml_buf out;
    int r = ml_breakdown_parse("module,category,label,scope,class,phase,thread,stack,device,space,"
                               "process",
                               &opts, &err);

    ml_buf_init(&out);
    if (r == 0)
        r = ml_breakdown(trace, &opts, &breakdown, &err);
    if (r == 0)
        r = ml_breakdown_text(&breakdown, "f", &style, &out);
    if (r == 0)
        r = ml_breakdown_json(&breakdown, "f", &out);
    if (r == 0)
        r = ml_breakdown_csv(&breakdown, false, &out);
    if (r == 0)
        r = ml_module_tree(trace, &(struct ml_tree_opts){.min_percent = 10}, &tree, &err);
    if (r == 0)
        r = ml_module_tree_text(&tree, "f", &style, &out);
    if (r == 0)
        r = ml_module_tree_json(&tree, "f", &out);
    if (r == 0)
        r = ml_layers(trace, &opts.snapshot, &layers, &err);
    if (r == 0)
        r = ml_layers_text(&layers, "f", &style, &out);
    if (r == 0)
        r = ml_layers_json(&layers, "f", &out);
    if (r == 0)
        r = ml_layers_csv(&layers, false, &out);
    ml_breakdown_release(&breakdown);
    ml_module_tree_release(&tree);
    ml_layers_release(&layers);
    ml_buf_release(&out);
    return r;
}

static int run_leaks(const struct ml_trace *trace)
{
    struct ml_leaks_opts opts = {.slices = 5, .top = 10, .warm_up = 0};
    struct ml_error err = {0};
    struct ml_leaks leaks;
    struct ml_buf out;
    int r = ml_leaks(trace, &opts, &leaks, &err);

    ml_buf_init(&out);
    if (r == 0)
        r = ml_leaks_text(&leaks, "f", &style, &out);
    if (r == 0)
        r = ml_leaks_json(&leaks, "f", &out);
    ml_leaks_release(&leaks);
    ml_buf_release(&out);
    return r;
}

static int run_temporary(const struct ml_trace *trace)
{
    struct ml_temporary_opts opts = {
        .by = {ML_KEY_MODULE, ML_KEY_CATEGORY}, .by_count = 2, .top = 1, .limit.allocations = 100};
    struct ml_error err = {0};
    struct ml_temporary temporary;
    struct ml_buf out;
    int r = ml_temporary(trace, &opts, &temporary, &err);

    ml_buf_init(&out);
    if (r == 0)
        r = ml_temporary_text(&temporary, "f", &style, &out);
    if (r == 0)
        r = ml_temporary_json(&temporary, "f", &out);
    if (r == 0)
        r = ml_temporary_csv(&temporary, false, &out);
    ml_temporary_release(&temporary);
    ml_buf_release(&out);
    return r;
}

static int run_steps(const struct ml_trace *trace)
{
    struct ml_error err = {0};
    struct ml_process_steps s;
    struct ml_buf out;
    int r = ml_process_steps(trace, &(struct ml_process_steps_opts){0}, &s, &err);

    ml_buf_init(&out);
    if (r == 0)
        r = ml_steps_text(&s, "f", &style, &out);
    if (r == 0)
        r = ml_steps_json(&s, "f", &out);
    if (r == 0)
        r = ml_steps_csv(&s, &out);
    ml_process_steps_release(&s);
    ml_buf_release(&out);
    return r;
}

static int print(void *ctx, const struct ml_event_view *view)
{
    return ml_event_text(view, &style, &event_columns, ctx);
}

static int run_events(const struct ml_trace *trace)
{
    struct ml_events_opts opts = {.to_ns = UINT64_MAX};
    struct ml_error err = {0};
    struct ml_buf out;
    int r;

    ml_buf_init(&out);
    r = ml_events(trace, &opts, print, &out, NULL, &err);
    ml_buf_release(&out);
    return r;
}

static int run_plot(const struct ml_trace *trace)
{
    const struct ml_overlay_words words = {.what = "memory", .things = "events"};
    struct ml_plot_opts opts = {.title = "t", .width = 400, .height = 300};
    struct ml_timeline_opts timeline_opts = {.buckets = 50};
    struct ml_timeline t;
    struct ml_plot_series series[] = {{.name = "a", .timeline = &t},
                                      {.name = "b", .timeline = &t, .is_truth = true}};
    struct ml_picture_opts picture = {.format = ML_PICTURE_SVG};
    struct ml_canvas canvas = {0};
    struct ml_error err = {0};
    struct ml_buf out;
    int r = ml_timeline(trace, &timeline_opts, &t, &err);

    ml_buf_init(&out);
    if (r == 0) {
        ml_plot_overlay(&canvas, series, 2, 50, &words, &opts);
        r = ml_canvas_write(&canvas, &picture, &out, &err);
    }
    ml_canvas_release(&canvas);
    ml_timeline_release(&t);
    ml_buf_release(&out);
    return r;
}

/* Everything that can be drawn of a trace, into one canvas. */
static int run_pictures(const struct ml_trace *trace)
{
    struct ml_plot_opts opts = {.title = "t", .width = 400};
    struct ml_picture_opts picture = {.format = ML_PICTURE_SVG};
    struct ml_snapshot_opts at = {.at = {.kind = ML_AT_PEAK}};
    struct ml_tree_opts tree_opts = {.snapshot = at};
    struct ml_timeline_opts timeline = {.buckets = 20};
    struct ml_bands bands = {0}, by_module = {0};
    struct ml_lifetimes lifetimes = {0};
    struct ml_segment_map map = {0};
    struct ml_module_tree tree = {0};
    struct ml_canvas canvas = {0};
    struct ml_error err = {0};
    struct ml_buf out = {0};
    int r = ml_bands(trace, ML_BANDS_CATEGORY, &timeline, &bands, &err);

    if (r == 0)
        r = ml_bands(trace, ML_BANDS_MODULE, &timeline, &by_module, &err);
    if (r == 0)
        r = ml_lifetimes(trace, &(struct ml_lifetimes_opts){.top = 3}, &lifetimes, &err);
    if (r == 0)
        r = ml_segment_map(trace, &at, 5, &map, &err);
    if (r == 0)
        r = ml_module_tree(trace, &tree_opts, &tree, &err);
    if (r == 0) {
        ml_plot_bands(&canvas, &bands, NULL, 0, 20, &opts);
        ml_plot_bands(&canvas, &by_module, NULL, 0, 20, &opts);
        ml_plot_lifetimes(&canvas, &lifetimes, &opts);
        ml_plot_segments(&canvas, &map, &opts);
        ml_plot_flame(&canvas, &tree, true, &opts);
        r = ml_canvas_write(&canvas, &picture, &out, &err);
    }
    ml_bands_release(&bands);
    ml_bands_release(&by_module);
    ml_lifetimes_release(&lifetimes);
    ml_segment_map_release(&map);
    ml_module_tree_release(&tree);
    ml_canvas_release(&canvas);
    ml_buf_release(&out);
    return r;
}

static int run_curves(const struct ml_trace *trace)
{
    struct ml_sample_curves curves;
    struct ml_error err = {0};
    int r = ml_sample_curves(trace, &(struct ml_timeline_opts){.buckets = 50}, &curves, &err);

    ml_sample_curves_release(&curves);
    return r;
}

static int run_compare(const struct ml_trace *trace)
{
    struct ml_error err = {0};
    struct ml_summary s;
    struct ml_compare c = {0};
    struct ml_buf out;
    struct ml_compare_input inputs[] = {{"a", "a", &s, trace}, {"b", "b", &s, trace}};
    struct ml_compare_view_opts opts = {
        .by = {ML_KEY_MODULE, ML_KEY_LABEL}, .by_count = 2, .top = 2};
    struct ml_compare_view view = {0};
    int r = ml_summarize(trace, &(struct ml_summary_opts){.top = 0}, &s, &err);

    ml_buf_init(&out);
    if (r == 0)
        r = ml_compare(inputs, 2, NULL, &c, &err);
    if (r == 0)
        r = ml_compare_view(inputs, &c, &opts, &view, &err);
    if (r == 0)
        r = ml_compare_text(&c, &view, &style, &out);
    if (r == 0)
        r = ml_compare_json(&c, &view, &out);
    ml_compare_view_release(&view);
    ml_compare_release(&c);
    ml_summary_release(&s);
    ml_buf_release(&out);
    return r;
}

static int run_ledger(const struct ml_trace *trace)
{
    struct ml_error err = {0};
    struct ml_ledger ledger;
    struct ml_buf out;
    int r = ml_ledger(trace, &(struct ml_ledger_opts){.top = 3}, &ledger, &err);

    ml_buf_init(&out);
    if (r == 0)
        r = ml_ledger_text(&ledger, "f", &style, &out);
    if (r == 0)
        r = ml_ledger_json(&ledger, "f", &out);
    ml_ledger_release(&ledger);
    ml_buf_release(&out);
    return r;
}

static int run_refusals(const struct ml_trace *trace)
{
    struct ml_fragmentation found = {0};
    struct ml_oom_report report;
    struct ml_error err = {0};
    struct ml_buf out;
    int r = ml_oom_report(trace, &(struct ml_oom_opts){.top = 2}, &report, &err);

    ml_buf_init(&out);
    if (r == 0)
        r = ml_oom_text(&report, "f", &style, &out);
    if (r == 0)
        r = ml_oom_json(&report, "f", &out);
    if (r == 0)
        r = ml_fragmentation(trace, &(struct ml_snapshot_opts){0}, 2, &found, &err);
    if (r == 0)
        r = ml_fragmentation_text(&found, "f", &style, &out);
    if (r == 0)
        r = ml_fragmentation_json(&found, "f", true, &out);
    ml_oom_report_release(&report);
    ml_fragmentation_release(&found);
    ml_buf_release(&out);
    return r;
}

static int group(const struct ml_tag_list *list, struct ml_buf *out)
{
    struct ml_grouping_opts opts = {
        .top = 2, .tag_chars = 6, .has_expected = true, .expected_bytes = 1 << 20};
    struct ml_dictionary dictionary;
    struct ml_grouping grouping = {0};
    struct ml_error err = {0};
    struct ml_json json;
    int r = ml_dictionary_builtin("layers", &dictionary, &err);

    dictionary.match = ML_MATCH_ALL;
    ml_json_init(&json, out, true);
    if (r == 0)
        r = ml_grouping(list, &dictionary, &opts, &grouping);
    if (r == 0)
        r = ml_groups_text(&grouping, &style, out);
    if (r == 0)
        r = ml_mxnet_text(&grouping, out);
    if (r == 0) {
        ml_groups_json(&grouping, &json);
        r = ml_json_finish(&json);
    }
    ml_grouping_release(&grouping);
    ml_dictionary_release(&dictionary);
    return r;
}

static int run_groups(const struct ml_trace *trace)
{
    struct ml_tag_list_opts opts = {.level = MEMLEDGER_DRIVER};
    struct ml_tbd_analysis analysis = {0};
    struct ml_tag_list live, gross = {0};
    struct ml_error err = {0};
    struct ml_buf out;
    int r = ml_tag_list(trace, &opts, &live, &err);

    ml_buf_init(&out);
    opts.gross = true;
    opts.level = 0;
    if (r == 0)
        r = ml_tag_list(trace, &opts, &gross, &err);
    if (r == 0)
        r = group(&live, &out);
    if (r == 0)
        r = group(&gross, &out);
    if (r == 0)
        r = ml_tbd_analysis(&gross, NULL, &analysis);
    if (r == 0)
        r = ml_tbd_text(&analysis, "f", &out);
    if (r == 0)
        r = ml_tbd_json(&analysis, &out);
    ml_tag_list_release(&live);
    ml_tag_list_release(&gross);
    ml_tbd_analysis_release(&analysis);
    ml_buf_release(&out);
    return r;
}

static int run_pool_entries(const struct ml_trace *trace)
{
    struct ml_pool_entries entries;
    struct ml_error err = {0};
    int r = ml_pool_entries(trace, &(struct ml_pool_opts){.at.kind = ML_AT_END}, &entries, &err);

    ml_pool_entries_release(&entries);
    return r;
}

static void add_gpu(struct fixture *f, uint32_t scope)
{
    uint32_t gpu = ml_maker_string(f->maker, "cuda:0");
    uint32_t memory =
        ml_maker_space(f->maker, 0, gpu, MEMLEDGER_DRIVER, ml_maker_string(f->maker, "gpu"));
    uint32_t tensors =
        ml_maker_space(f->maker, 0, gpu, MEMLEDGER_BLOCK, ml_maker_string(f->maker, "torch"));
    uint32_t managed =
        ml_maker_space(f->maker, 0, ml_maker_string(f->maker, ML_CUDA_MANAGED_DEVICE),
                       MEMLEDGER_DRIVER, ml_maker_string(f->maker, ML_CUDA_MANAGED));

    ml_maker_setting(f->maker, "gpu cuda:0", "a model");
    fixture_event(f, (struct ml_event){.kind = ML_SAMPLE, .args = {gpu, 7, 10, 10, 1000}});
    fixture_alloc(f, memory, 4096, 8192);
    fixture_alloc(f, managed, 4096, 100);
    for (uint64_t i = 0; i < 10; i++) {
        fixture_event(f, (struct ml_event){.kind = ML_ALLOC,
                                           .space = tensors,
                                           .scope = i % 2 ? scope : 0,
                                           .addr = 4096 + i * 512,
                                           .size = 100});
        fixture_label(f, tensors, 4096 + i * 512, "y", (int)(i % 3));
    }
    fixture_event(f, (struct ml_event){.kind = ML_SAMPLE, .args = {gpu, 7, 9000, 10, 10000}});
    fixture_event(f, (struct ml_event){.kind = ML_OOM, .space = memory, .size = 30});
    fixture_event(
        f, (struct ml_event){.kind = ML_OOM, .space = tensors, .scope = scope, .size = 5000});
}

/* Modules, labels that name them, and a step. */
static void add_model(struct fixture *f)
{
    uint32_t class_name = ml_maker_string(f->maker, "Linear");
    uint32_t model = ml_maker_class_scope(f->maker, 0, MEMLEDGER_SCOPE_MODULE,
                                          ml_maker_string(f->maker, "GPT"), class_name);
    uint32_t fc = ml_maker_class_scope(f->maker, model, MEMLEDGER_SCOPE_MODULE,
                                       ml_maker_string(f->maker, "fc"), class_name);
    uint32_t stack = ml_maker_stack(f->maker, 0, ml_maker_frame(f->maker, -1, 0x77));

    fixture_event(f, (struct ml_event){.kind = ML_MARK, .args = {MEMLEDGER_MARK_STEP, 0}});
    for (uint64_t i = 0; i < 8; i++) {
        uint64_t addr = 4096 * (300 + i);

        fixture_event(f, (struct ml_event){.kind = ML_ALLOC,
                                           .space = f->block,
                                           .scope = i % 2 ? fc : model,
                                           .stack = i % 3 ? stack : 0,
                                           .addr = addr,
                                           .size = 100});
        fixture_label(f, f->block, addr, i % 4 ? "fc.weight" : "w", MEMLEDGER_PARAMETER);
    }
}

static void add_mark(struct fixture *f, uint64_t kind, uint64_t number, const char *name)
{
    fixture_event(f, (struct ml_event){.kind = ML_MARK,
                                       .args = {kind, number, ml_maker_string(f->maker, name)}});
}

/* Calls, phases and steps: what categories and steps are made from. */
static void add_calls(struct fixture *f, uint32_t scope)
{
    for (uint64_t i = 0; i < 6; i++) {
        fixture_event(f, (struct ml_event){.kind = ML_PUSH, .thread = (uint32_t)i, .scope = scope});
        add_mark(f, MEMLEDGER_MARK_STEP, i, "");
        add_mark(f, MEMLEDGER_MARK_PHASE, 0, i % 2 ? "optimizer" : "forward");
    }
}

static struct ml_trace *rich_trace(void)
{
    struct fixture f = fixture_begin();
    uint32_t scope =
        ml_maker_scope(f.maker, 0, MEMLEDGER_SCOPE_MODULE, ml_maker_string(f.maker, "conv"));

    add_calls(&f, scope);
    for (uint64_t i = 0; i < 100; i++) {
        fixture_event(&f, (struct ml_event){.kind = ML_ALLOC,
                                            .space = f.block,
                                            .scope = scope,
                                            .addr = 4096 * (i + 1),
                                            .size = 100});
        fixture_label(&f, f.block, 4096 * (i + 1), "x", (int)(i % 9));
    }
    add_gpu(&f, scope);
    add_model(&f);
    fixture_free_range(&f, f.block, 4096 * 5 + 10, 8192);
    fixture_event(&f, (struct ml_event){.kind = ML_MOVE, .space = f.block, .addr = 4096 * 20});
    fixture_alloc(&f, f.block, 4096 * 200, 1);
    for (uint64_t i = 0; i < 20; i++)
        fixture_event(&f, (struct ml_event){
                              .kind = ML_SAMPLE,
                              .args = {ml_maker_string(f.maker, i % 2 ? "cpu" : "cuda:0"),
                                       0xf | (1 + i / 4) << ML_SAMPLE_PROCESS_SHIFT, i, i, i, i}});
    fixture_event(&f, (struct ml_event){.kind = ML_PROCESS_END, .args = {0, 1}});
    return fixture_open(&f);
}

static void fail_each(int (*run)(const struct ml_trace *))
{
    struct ml_trace *trace = rich_trace();
    int r = -ENOMEM;
    long n = 0;

    for (; r < 0 && n < 100000; n++) {
        fail_from_nth(n);
        r = run(trace);
        fail_end();
        if (r < 0)
            assert_int_equal(r, -ENOMEM);
    }
    assert_int_equal(r, 0);
    assert_true(n > 5);
    ml_trace_free(trace);
}

static void summary_survives(void **state)
{
    (void)state;
    fail_each(run_summary);
}

static void stats_survive(void **state)
{
    (void)state;
    fail_each(run_stats);
}

static void events_survive(void **state)
{
    (void)state;
    fail_each(run_events);
}

static void plot_survives(void **state)
{
    (void)state;
    fail_each(run_plot);
    fail_each(run_pictures);
    fail_each(run_curves);
}

static void leaks_survive(void **state)
{
    (void)state;
    fail_each(run_leaks);
}

static void temporary_survives(void **state)
{
    (void)state;
    fail_each(run_temporary);
}

static void compare_survives(void **state)
{
    (void)state;
    fail_each(run_compare);
}

static void ledger_survives(void **state)
{
    (void)state;
    fail_each(run_ledger);
}

static void refusals_survive(void **state)
{
    (void)state;
    fail_each(run_refusals);
}

static void modules_and_steps_survive(void **state)
{
    (void)state;
    fail_each(run_modules);
    fail_each(run_steps);
}

static void groups_survive(void **state)
{
    (void)state;
    fail_each(run_groups);
    fail_each(run_pool_entries);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(summary_survives), cmocka_unit_test(stats_survive),
        cmocka_unit_test(events_survive),   cmocka_unit_test(plot_survives),
        cmocka_unit_test(leaks_survive),    cmocka_unit_test(temporary_survives),
        cmocka_unit_test(compare_survives), cmocka_unit_test(ledger_survives),
        cmocka_unit_test(refusals_survive), cmocka_unit_test(modules_and_steps_survive),
        cmocka_unit_test(groups_survive),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
