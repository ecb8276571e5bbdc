/* test_analyze_hostile.c: events that no program makes: any kind, any number.
 * Nothing crashes, and the books still agree with the blocks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "classify.h"
#include "test_analyze_fixture.h"

#include <errno.h>

#include "cuda_spaces.h"
#include "events.h"
#include "events_report.h"
#include "breakdown.h"
#include "breakdown_report.h"
#include "fragmentation_report.h"
#include "leaks.h"
#include "ledger.h"
#include "ledger_report.h"
#include "module_tree.h"
#include "module_tree_report.h"
#include "oom_report.h"
#include "stats.h"
#include "stats_report.h"
#include "summary.h"
#include "summary_report.h"
#include "temporary.h"
#include "sample_curves.h"
#include "pool_entries.h"
#include "timeline.h"

#define SEEDS 60
#define EVENTS 1500

static uint64_t random_state;

static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* Mostly small and often repeated, now and then extreme. */
static uint64_t some_number(void)
{
    switch (next_random() % 8) {
    case 0: return UINT64_MAX - next_random() % 100;
    case 1: return next_random();
    case 2: return UINT64_C(1) << (next_random() % 64);
    default: return next_random() % 300;
    }
}

/* Spaces of a GPU, on which samples then are. @return its name */
static uint32_t add_gpu(struct fixture *f)
{
    uint32_t gpu = ml_maker_string(f->maker, "cuda:0");

    ml_maker_space(f->maker, 0, gpu, MEMLEDGER_DRIVER, ml_maker_string(f->maker, ML_CUDA_MEMORY));
    ml_maker_space(f->maker, 0, gpu, MEMLEDGER_DRIVER, ml_maker_string(f->maker, ML_CUDA_POOLS));
    ml_maker_space(f->maker, 0, gpu, MEMLEDGER_BLOCK, ml_maker_string(f->maker, ML_CUDA_ASYNC));
    ml_maker_space(f->maker, 0, gpu, MEMLEDGER_BLOCK, ml_maker_string(f->maker, "tensors"));
    ml_maker_space(f->maker, 1, gpu, MEMLEDGER_POOL, ml_maker_string(f->maker, "segments"));
    ml_maker_space(f->maker, 0, gpu, MEMLEDGER_BLOCK, ml_maker_string(f->maker, "torch"));
    ml_maker_space(f->maker, 0, gpu, MEMLEDGER_DRIVER, ml_maker_string(f->maker, ML_CUDA_VIRTUAL));
    return gpu;
}

/* Three scopes, so that blocks have categories, and names for marks. */
static void add_scopes(struct fixture *f, uint32_t marks[4])
{
    uint32_t module, phase;

    marks[1] = ml_maker_string(f->maker, "forward");
    marks[2] = ml_maker_string(f->maker, "backward");
    marks[3] = ml_maker_string(f->maker, "optimizer");
    module = ml_maker_scope(f->maker, 0, MEMLEDGER_SCOPE_MODULE, marks[0]);
    phase = ml_maker_scope(f->maker, module, MEMLEDGER_SCOPE_PHASE, marks[3]);
    ml_maker_scope(f->maker, phase, MEMLEDGER_SCOPE_MODULE, marks[1]);
}

static struct ml_trace *hostile_trace(uint64_t seed)
{
    struct fixture f = fixture_begin();
    uint32_t gpu, marks[4] = {0};

    random_state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    fixture_nest(&f);
    fixture_process(&f, 1, 101, 0, ML_FORKED);
    fixture_space_of(&f, 1);
    fixture_process(&f, 2, 101, 1, ML_EXECED);
    fixture_space_of(&f, 2);
    gpu = add_gpu(&f);
    if (seed % 2)
        add_scopes(&f, marks);
    for (int i = 0; i < EVENTS; i++) {
        struct ml_event e = {
            .kind = (uint8_t)(1 + next_random() % (ML_KIND_COUNT - 1)),
            .thread = (uint32_t)(next_random() % 5),
            .space = (uint32_t)(next_random() % 14),
            .scope = (uint32_t)(next_random() % 4),
            .addr = some_number(),
            .size = some_number(),
        };

        if (next_random() % 3)
            e.kind = (uint8_t)(1 + next_random() % 7); /* memory events, mostly */
        for (int k = 0; k < ML_EVENT_ARGS; k++)
            e.args[k] = some_number();
        if (e.kind == ML_MARK) {
            e.args[0] = next_random() % 3;
            e.args[2] = marks[next_random() % 4];
        }
        if (e.kind == ML_SAMPLE && next_random() % 2)
            e.args[0] = gpu;
        fixture_event(&f, e);
    }
    return fixture_open(&f);
}

/* Each figure that is kept while events pass, counted again from the blocks. */
static void books_agree(const struct ml_replay *r)
{
    uint64_t live = 0, categories = 0, blocks = 0, allocations = 0, gone = 0;

    for (size_t i = 0; i < r->blocks.len; i++) {
        const struct ml_block *b = &r->blocks.items[i];
        const struct ml_replay_space *s = b->live ? &r->spaces.items[b->space] : NULL;

        blocks += b->live;
        if (s && s->counted && !s->ended)
            live += b->size;
    }
    for (size_t i = 0; i < r->spaces.len; i++) {
        blocks -= r->spaces.items[i].live_blocks;
        allocations += r->spaces.items[i].allocations - r->spaces.items[i].live_blocks;
        gone += r->spaces.items[i].frees;
    }
    for (size_t i = 0; i < ML_CATEGORIES; i++)
        categories += r->categories[i].bytes.live_bytes;
    assert_int_equal(r->bytes.live_bytes, live);
    assert_int_equal(categories, live);
    assert_int_equal(blocks, 0);
    assert_int_equal(allocations + r->splits, gone + r->replaced);
}

static void books_hold_whatever_comes(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct ml_trace *trace = hostile_trace(seed);
        struct ml_error err = {0};
        struct ml_replay replay;

        assert_int_equal(ml_replay_init(&replay, trace), 0);
        for (uint64_t limit = 100; limit <= EVENTS; limit += 350) {
            ml_replay_release(&replay);
            assert_int_equal(ml_replay_init(&replay, trace), 0);
            assert_int_equal(ml_replay_trace(&replay, limit, &err), 0);
            books_agree(&replay);
        }
        ml_replay_release(&replay);
        ml_trace_free(trace);
    }
}

/* Categories are another way to see the same bytes. */
static void classes_change_no_total(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct ml_trace *trace = hostile_trace(seed);
        struct ml_error err = {0};
        struct ml_replay plain, classified;
        struct ml_classes classes;

        assert_int_equal(ml_classify(trace, &classes, &err), 0);
        assert_int_equal(classes.known, seed % 2);
        assert_int_equal(ml_replay_init(&plain, trace), 0);
        assert_int_equal(ml_replay_trace(&plain, UINT64_MAX, &err), 0);
        assert_int_equal(ml_replay_init(&classified, trace), 0);
        ml_replay_classify(&classified, &classes);
        assert_int_equal(ml_replay_trace(&classified, UINT64_MAX, &err), 0);
        books_agree(&classified);
        assert_int_equal(classified.bytes.peak_bytes, plain.bytes.peak_bytes);
        assert_int_equal(classified.peak_event, plain.peak_event);
        assert_int_equal(classified.unknown_labels, plain.unknown_labels);
        assert_int_equal(classified.ordinal, classes.categories.len);
        assert_int_equal(classified.next_label, classes.labels.len);
        ml_replay_release(&classified);
        ml_replay_release(&plain);
        ml_classes_release(&classes);
        ml_trace_free(trace);
    }
}

/* What grows and what is temporary can be no more than what was there. Bytes may be:
 * sizes go round here. */
static void lives_are_within_the_totals(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct ml_trace *trace = hostile_trace(seed);
        struct ml_leaks_opts leaks_opts = {.slices = (uint32_t)(seed % 3) * 4, .top = 100};
        struct ml_temporary_opts opts = {.by = {ML_KEY_MODULE}, .by_count = 1, .top = 3};
        struct ml_temporary temporary;
        struct ml_error err = {0};
        struct ml_leaks leaks;

        opts.limit.allocations = seed;
        assert_int_equal(ml_leaks(trace, &leaks_opts, &leaks, &err), 0);
        for (size_t i = 0; i < leaks.list.len; i++)
            assert_true(leaks.list.items[i].grew + leaks.list.items[i].fell <= leaks.measured);
        assert_int_equal(ml_temporary(trace, &opts, &temporary, &err), 0);
        assert_true(temporary.total.allocations <= temporary.all_allocations);
        ml_leaks_release(&leaks);
        ml_temporary_release(&temporary);
        ml_trace_free(trace);
    }
}

static int print(void *ctx, const struct ml_event_view *view)
{
    static const struct ml_event_columns columns = {.time = 15, .thread = 15, .space = 18};

    return ml_event_text(view, &(struct ml_style){0}, &columns, ctx);
}

static void report_ledger(const struct ml_trace *trace, enum ml_at_kind at, struct ml_buf *out)
{
    const struct ml_style style = {.width = 100};
    struct ml_error err = {0};
    struct ml_ledger ledger;

    assert_int_equal(
        ml_ledger(trace, &(struct ml_ledger_opts){.at = {.kind = at, .time_ns = 7000}, .top = 5},
                  &ledger, &err),
        0);
    assert_int_equal(ledger.devices.len, 1);
    assert_int_equal(ledger.devices.items[0].balanced, ledger.devices.items[0].sampled);
    assert_int_equal(ml_ledger_text(&ledger, "f", &style, out), 0);
    assert_int_equal(ml_ledger_json(&ledger, "f", out), 0);
    ml_ledger_release(&ledger);
}

/* Three reports on one instant: each adds up to what is live then. */
static void report_modules(const struct ml_trace *trace, struct ml_buf *out)
{
    const struct ml_style style = {.width = 100};
    const struct ml_at instants[] = {
        {.kind = ML_AT_PEAK}, {.kind = ML_AT_END}, {.kind = ML_AT_TIME, .time_ns = 7000}};
    struct ml_breakdown_opts opts = {.top = 3};
    struct ml_error err = {0};

    assert_int_equal(ml_breakdown_parse("module,category,label,scope,class,phase,thread,stack,"
                                        "device,space,process",
                                        &opts, &err),
                     0);
    for (size_t i = 0; i < ML_ARRAY_SIZE(instants); i++) {
        struct ml_tree_opts tree_opts = {.snapshot.at = instants[i], .min_percent = 5};
        struct ml_breakdown breakdown;
        struct ml_module_tree tree;
        struct ml_layers layers;
        uint64_t bytes = 0;

        opts.snapshot.at = instants[i];
        assert_int_equal(ml_breakdown(trace, &opts, &breakdown, &err), 0);
        for (size_t g = 0; g < breakdown.groups.len; g++)
            bytes += breakdown.groups.items[g].bytes;
        assert_int_equal(bytes + breakdown.rest.bytes, breakdown.at.bytes);
        assert_int_equal(ml_breakdown_text(&breakdown, "f", &style, out), 0);
        assert_int_equal(ml_module_tree(trace, &tree_opts, &tree, &err), 0);
        assert_int_equal(tree.all.bytes, breakdown.at.bytes);
        assert_int_equal(ml_module_tree_text(&tree, "f", &style, out), 0);
        assert_int_equal(ml_layers(trace, &tree_opts.snapshot, &layers, &err), 0);
        assert_int_equal(layers.all.bytes, breakdown.at.bytes);
        assert_int_equal(ml_layers_text(&layers, "f", &style, out), 0);
        ml_breakdown_release(&breakdown);
        ml_module_tree_release(&tree);
        ml_layers_release(&layers);
    }
}

/* What is free in segments is what no block has, and no hole is larger. */
static void report_free(const struct ml_trace *trace, struct ml_buf *out)
{
    const struct ml_style style = {.width = 100};
    struct ml_fragmentation found;
    struct ml_error err = {0};
    int r = ml_fragmentation(trace, &(struct ml_snapshot_opts){0}, 3, &found, &err);

    if (r == 0) {
        for (size_t i = 0; i < found.free.places.len; i++) {
            const struct ml_free_place *p = &found.free.places.items[i];

            assert_int_equal(p->hole_bytes + p->empty_bytes, p->bytes - p->live_bytes);
            assert_true(p->largest_hole <= p->bytes - p->live_bytes);
            assert_true(p->largest_inside <= p->bytes - p->live_bytes);
        }
        assert_int_equal(ml_fragmentation_text(&found, "f", &style, out), 0);
        assert_int_equal(ml_fragmentation_json(&found, "f", true, out), 0);
    } else {
        assert_int_equal(r, -ENOENT);
    }
    ml_fragmentation_release(&found);
}

/* Each refusal, whether it stands or not. */
static void report_refusals(const struct ml_trace *trace, struct ml_buf *out)
{
    const struct ml_style style = {.width = 60};
    struct ml_oom_report report;
    struct ml_error err = {0};

    for (uint64_t number = 0; number < 12; number++) {
        if (ml_oom_report(trace, &(struct ml_oom_opts){.number = number, .top = 3}, &report, &err))
            fail_msg("refusal %d: %s", (int)number, err.text);
        for (size_t i = 0; i < report.list.len; i++)
            if (report.list.items[i].has_segments)
                assert_true(report.list.items[i].least_capacity <=
                            report.list.items[i].most_capacity);
        assert_int_equal(ml_oom_text(&report, "f", &style, out), 0);
        assert_int_equal(ml_oom_json(&report, "f", out), 0);
        ml_oom_report_release(&report);
    }
}

/* Lists hold what was live, whatever else they look at. */
static void report_groups(const struct ml_trace *trace)
{
    struct ml_pool_entries entries;
    struct ml_error err = {0};
    struct ml_tag_list list;

    for (unsigned level = 0; level <= MEMLEDGER_BLOCK; level++)
        for (int gross = 0; gross < 2; gross++) {
            struct ml_tag_list_opts opts = {.level = level, .gross = gross};
            uint64_t bytes = 0;

            assert_int_equal(ml_tag_list(trace, &opts, &list, &err), 0);
            for (size_t i = 0; i < list.list.len; i++)
                bytes += list.list.items[i].bytes;
            assert_int_equal(bytes, list.bytes);
            ml_tag_list_release(&list);
        }
    assert_int_equal(
        ml_pool_entries(trace, &(struct ml_pool_opts){.at.kind = ML_AT_PEAK}, &entries, &err), 0);
    ml_pool_entries_release(&entries);
}

static void report_all(const struct ml_trace *trace)
{
    const struct ml_style style = {.width = 100};
    struct ml_error err = {0};
    struct ml_summary summary;
    struct ml_stats stats;
    struct ml_timeline timeline;
    struct ml_sample_curves curves;
    struct ml_buf out;

    ml_buf_init(&out);
    assert_int_equal(ml_summarize(trace, &(struct ml_summary_opts){.top = 5}, &summary, &err), 0);
    assert_int_equal(ml_summary_text(&summary, "f", &style, &out), 0);
    assert_int_equal(ml_summary_json(&summary, "f", &out), 0);
    assert_int_equal(ml_measure(trace, &(struct ml_stats_opts){.top = 5}, &stats, &err), 0);
    assert_int_equal(ml_stats_text(&stats, "f", &style, &out), 0);
    assert_int_equal(ml_stats_json(&stats, "f", &out), 0);
    assert_int_equal(ml_timeline(trace, &(struct ml_timeline_opts){.buckets = 77}, &timeline, &err),
                     0);
    assert_int_equal(
        ml_events(trace, &(struct ml_events_opts){.to_ns = UINT64_MAX}, print, &out, NULL, &err),
        0);
    report_ledger(trace, ML_AT_PEAK, &out);
    report_ledger(trace, ML_AT_END, &out);
    report_ledger(trace, ML_AT_TIME, &out);
    report_modules(trace, &out);
    report_groups(trace);
    report_free(trace, &out);
    report_refusals(trace, &out);
    ml_summary_release(&summary);
    ml_stats_release(&stats);
    ml_timeline_release(&timeline);
    assert_int_equal(
        ml_sample_curves(trace, &(struct ml_timeline_opts){.buckets = 77}, &curves, &err), 0);
    ml_sample_curves_release(&curves);
    ml_buf_release(&out);
}

static void reports_hold_whatever_comes(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS / 3; seed++) {
        struct ml_trace *trace = hostile_trace(seed);

        report_all(trace);
        ml_trace_free(trace);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(books_hold_whatever_comes),
        cmocka_unit_test(classes_change_no_total),
        cmocka_unit_test(lives_are_within_the_totals),
        cmocka_unit_test(reports_hold_whatever_comes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
