/* test_oom_verdict.c: shortage or fragmentation: the sizes that PyTorch's allocator has, the
 * rules, and which of several failures is reported.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_analyze_fixture.h"

#include <errno.h>

#include "cuda_spaces.h"
#include "oom_verdict.h"
#include "torch_packing.h"

#define MIB (UINT64_C(1) << 20)
#define GPU "cuda:0"
#define BASE UINT64_C(0x7f0000000000)

/* ---- Sizes ------------------------------------------------------------- */

static uint64_t packed(size_t count, const uint64_t *sizes, uint64_t *ret_expandable)
{
    struct ml_torch_packing packing;
    uint64_t bytes;

    assert_int_equal(ml_torch_packing_init(&packing), 0);
    for (size_t i = 0; i < count; i++)
        ml_torch_packing_add(&packing, sizes[i]);
    bytes = ml_torch_packed_bytes(&packing);
    assert_int_equal(ml_torch_packed_bytes(&packing), bytes); /* it can be asked again */
    *ret_expandable = ml_torch_expandable_bytes(&packing);
    ml_torch_packing_release(&packing);
    return bytes;
}

static void blocks_are_packed_as_pytorch_does(void **state)
{
    uint64_t many[214], expandable;

    (void)state;
    for (size_t i = 0; i < 214; i++)
        many[i] = 6 * MIB;
    assert_int_equal(packed(213, many, &expandable), 71 * 20 * MIB);
    assert_int_equal(packed(214, many, &expandable), 72 * 20 * MIB);
    assert_int_equal(expandable, 65 * 20 * MIB); /* 1,284 MiB in pages of 20 */
    assert_int_equal(packed(0, many, &expandable), 0);
    assert_int_equal(packed(2, (uint64_t[]){1, 512}, &expandable), 2 * MIB);
    assert_int_equal(packed(3, (uint64_t[]){MIB, MIB, 1}, &expandable), 4 * MIB);
    assert_int_equal(packed(2, (uint64_t[]){MIB, MIB + 1}, &expandable), 22 * MIB);
    assert_int_equal(packed(1, (uint64_t[]){10 * MIB}, &expandable), 10 * MIB);
    assert_int_equal(packed(1, (uint64_t[]){11 * MIB + 1}, &expandable), 12 * MIB);
}

/* The largest first, each where the least is left: 9+9+2, 9+8+3, and 7 in a third. */
static void large_blocks_go_first(void **state)
{
    uint64_t expandable;

    (void)state;
    assert_int_equal(
        packed(7, (uint64_t[]){2 * MIB, 9 * MIB, 3 * MIB, 9 * MIB, 8 * MIB, 9 * MIB, 7 * MIB},
               &expandable),
        60 * MIB);
    assert_int_equal(
        packed(6, (uint64_t[]){2 * MIB, 9 * MIB, 3 * MIB, 9 * MIB, 8 * MIB, 9 * MIB}, &expandable),
        40 * MIB);
}

static void no_size_overflows(void **state)
{
    uint64_t expandable;

    (void)state;
    assert_true(packed(3, (uint64_t[]){UINT64_MAX, UINT64_MAX, UINT64_MAX - 1}, &expandable) >=
                UINT64_MAX - 2 * MIB);
    assert_true(expandable >= UINT64_MAX - 20 * MIB);
}

static void requests_are_served_by_kind(void **state)
{
    (void)state;
    assert_int_equal(ml_torch_segment_bytes(1), 2 * MIB);
    assert_int_equal(ml_torch_segment_bytes(MIB), 2 * MIB);
    assert_int_equal(ml_torch_segment_bytes(MIB + 1), 20 * MIB);
    assert_int_equal(ml_torch_segment_bytes(10 * MIB), 10 * MIB);
    assert_int_equal(ml_torch_segment_bytes(21 * MIB), 22 * MIB);
    assert_int_equal(ml_torch_largest_request(2 * MIB - 1), 0);
    assert_int_equal(ml_torch_largest_request(9 * MIB), MIB); /* a large one takes 20 */
    assert_int_equal(ml_torch_largest_request(11 * MIB), 10 * MIB);
    assert_int_equal(ml_torch_hole_serves(2 * MIB, 2 * MIB), MIB);
    assert_int_equal(ml_torch_hole_serves(2 * MIB, 20 * MIB), 2 * MIB);
    assert_true(ml_torch_is_caching("cuda:3", "torch"));
    assert_true(ml_torch_is_caching("cuda:0", "torch pool 1.0"));
    assert_false(ml_torch_is_caching("cpu", "torch"));
    assert_false(ml_torch_is_caching("cuda:0", "torchvision"));
}

/* ---- Rules ------------------------------------------------------------- */

struct figures {
    uint64_t asked;
    bool host, segments, by_driver;
    struct ml_seen free, total, address_used, address_limit;
    uint64_t has, afresh;
};

static void judged(struct figures f, enum ml_oom_verdict verdict, enum ml_oom_rule rule,
                   int64_t short_bytes)
{
    struct ml_oom o = {
        .refusal = {.bytes = f.asked, .driver_bytes = f.by_driver ? f.asked : 0},
        .host = f.host,
        .driver = {.free = f.free, .total = f.total},
        .addresses = {.used = f.address_used, .limit = f.address_limit},
        .has_segments = f.segments,
        .place = {.bytes = f.has},
        .need_bytes = f.asked,
        .afresh_bytes = f.afresh,
        .live_bytes = 50,
    };

    ml_oom_judge(&o);
    assert_string_equal(ml_oom_verdict_name(o.verdict), ml_oom_verdict_name(verdict));
    assert_string_equal(ml_oom_rule_name(o.rule), ml_oom_rule_name(rule));
    assert_int_equal(o.short_bytes.known, short_bytes >= 0);
    if (short_bytes >= 0)
        assert_int_equal(o.short_bytes.bytes, short_bytes);
}

#define KNOWN(n)                                                                                   \
    {                                                                                              \
        true, (n)                                                                                  \
    }

static void memory_of_the_host_is_judged_by_what_is_free(void **state)
{
    (void)state;
    judged((struct figures){.host = true, .asked = UINT64_C(1) << 50}, ML_OOM_SHORTAGE,
           ML_RULE_ADDRESSES, -1);
    judged((struct figures){.host = true, .asked = 200, .free = KNOWN(30), .total = KNOWN(100)},
           ML_OOM_SHORTAGE, ML_RULE_TOTAL, 170);
    judged((struct figures){.host = true, .asked = 50, .free = KNOWN(30), .total = KNOWN(100)},
           ML_OOM_SHORTAGE, ML_RULE_FREE, 20);
    judged((struct figures){.host = true, .asked = 30, .free = KNOWN(30), .total = KNOWN(100)},
           ML_OOM_LIMIT, ML_RULE_FREE_ENOUGH, 0);
    judged((struct figures){.host = true, .asked = 30}, ML_OOM_UNKNOWN, ML_RULE_NO_FIGURES, -1);
}

static void a_limit_on_the_address_space_is_named(void **state)
{
    struct figures f = {.host = true,
                        .asked = 30,
                        .free = KNOWN(60),
                        .total = KNOWN(100),
                        .address_used = KNOWN(45),
                        .address_limit = KNOWN(70)};

    (void)state;
    judged(f, ML_OOM_LIMIT, ML_RULE_ADDRESS_LIMIT, 5);
    f.free = (struct ml_seen)KNOWN(10); /* the limit is certain, the shortage is not */
    judged(f, ML_OOM_LIMIT, ML_RULE_ADDRESS_LIMIT, 5);
    f.address_used = (struct ml_seen)KNOWN(20); /* an old sample */
    judged(f, ML_OOM_SHORTAGE, ML_RULE_FREE, 20);
    f.free = (struct ml_seen)KNOWN(60);
    judged(f, ML_OOM_LIMIT, ML_RULE_ADDRESS_LIMIT, 30);
    f.asked = 101;
    judged(f, ML_OOM_SHORTAGE, ML_RULE_TOTAL, 41);
}

static void segments_are_judged_by_what_they_need_afresh(void **state)
{
    struct figures f = {.segments = true, .asked = 20, .has = 100};

    (void)state;
    f.free = (struct ml_seen)KNOWN(10);
    f.afresh = 110; /* exactly what it may have */
    judged(f, ML_OOM_FRAGMENTATION, ML_RULE_FITS_AFRESH, 0);
    f.afresh = 111;
    judged(f, ML_OOM_SHORTAGE, ML_RULE_TOO_MUCH, 1);
    f.free = (struct ml_seen)KNOWN(1000); /* a limit, of 100 to 119 */
    f.afresh = 100;
    judged(f, ML_OOM_FRAGMENTATION, ML_RULE_FITS_AFRESH, 0);
    f.afresh = 110;
    judged(f, ML_OOM_UNKNOWN, ML_RULE_BETWEEN, 10);
    f.afresh = 120;
    judged(f, ML_OOM_SHORTAGE, ML_RULE_TOO_MUCH, 20);
    f.free = (struct ml_seen){0}; /* the refusal tells as much */
    judged(f, ML_OOM_SHORTAGE, ML_RULE_TOO_MUCH, 20);
    f.has = f.afresh = f.asked = UINT64_MAX;
    judged(f, ML_OOM_FRAGMENTATION, ML_RULE_FITS_AFRESH, 0);
}

static void without_segments_little_is_known(void **state)
{
    struct figures f = {.asked = 40, .total = KNOWN(100), .free = KNOWN(30)};

    (void)state;
    judged(f, ML_OOM_UNKNOWN, ML_RULE_NO_SEGMENTS, -1);
    f.asked = 60; /* with the 50 that are live */
    judged(f, ML_OOM_SHORTAGE, ML_RULE_TOTAL, 10);
    f = (struct figures){.asked = 40, .by_driver = true, .free = KNOWN(30)};
    judged(f, ML_OOM_SHORTAGE, ML_RULE_FREE, 10);
}

/* ---- Traces ------------------------------------------------------------ */

struct gpu {
    struct fixture f;
    uint32_t memory, torch, pool;
};

static struct gpu gpu_begin(const char *segments)
{
    struct gpu g = {.f = fixture_begin()};
    uint32_t gpu = ml_maker_string(g.f.maker, GPU);

    ml_maker_thread(g.f.maker, 0, 101, ml_maker_string(g.f.maker, "second"));
    g.memory =
        ml_maker_space(g.f.maker, 0, gpu, MEMLEDGER_DRIVER, ml_maker_string(g.f.maker, segments));
    g.torch =
        ml_maker_space(g.f.maker, 0, gpu, MEMLEDGER_BLOCK, ml_maker_string(g.f.maker, "torch"));
    g.pool = ml_maker_space(g.f.maker, 0, gpu, MEMLEDGER_BLOCK,
                            ml_maker_string(g.f.maker, "torch pool 1.0"));
    return g;
}

static void gpu_free(struct gpu *g, uint64_t bytes)
{
    fixture_event(&g->f, (struct ml_event){
                             .kind = ML_SAMPLE,
                             .args = {ml_maker_string(g->f.maker, GPU), ML_SAMPLE_FREE, 0, bytes}});
}

static void refuse(struct gpu *g, uint32_t space, uint32_t thread, uint64_t bytes)
{
    fixture_event(
        &g->f, (struct ml_event){.kind = ML_OOM, .space = space, .thread = thread, .size = bytes});
}

/* The report shows the last attempt of a failure, by thread; an attempt that succeeds is not a
 * failure. */
static void one_failure_is_told_once(void **state)
{
    static const enum ml_refusal_state expected[] = {
        ML_REFUSAL_REPEATED, ML_REFUSAL_RECOVERED, ML_REFUSAL_REPEATED,
        ML_REFUSAL_REPEATED, ML_REFUSAL_STANDS,    ML_REFUSAL_STANDS,
    };
    struct gpu g = gpu_begin(ML_CUDA_MEMORY);
    struct ml_refusals refusals;
    struct ml_error err = {0};
    struct ml_trace *trace;

    (void)state;
    refuse(&g, g.memory, 0, 30 * MIB);
    refuse(&g, g.memory, 0, 30 * MIB); /* asked again */
    fixture_alloc(&g.f, g.memory, BASE, 30 * MIB);
    refuse(&g, g.memory, 0, 20 * MIB);
    refuse(&g, g.memory, 1, 40 * MIB); /* another thread, for itself */
    refuse(&g, g.torch, 0, 6 * MIB);
    refuse(&g, g.torch, 1, 1); /* but it takes 40 */
    trace = fixture_open(&g.f);
    assert_int_equal(ml_refusals(trace, NULL, 0, &refusals, &err), 0);
    assert_int_equal(refusals.list.len, 6);
    assert_int_equal(refusals.recovered, 1);
    assert_int_equal(refusals.standing, 2);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(refusals.list.items[i].state, expected[i]);
    assert_int_equal(refusals.list.items[4].driver_bytes, 20 * MIB);
    assert_int_equal(refusals.list.items[5].driver_bytes, 40 * MIB);
    ml_refusals_release(&refusals);
    assert_int_equal(ml_refusals(trace, "cpu", 0, &refusals, &err), 0);
    assert_int_equal(refusals.list.len, 0);
    ml_refusals_release(&refusals);
    ml_trace_free(trace);
}

/* A framework's block of the host is malloc's too. What malloc refuses and gives later, the program
 * has seen refused. */
static void malloc_and_a_framework_fail_once(void **state)
{
    struct gpu g = gpu_begin(ML_CUDA_MEMORY);
    uint32_t heap = fixture_space(&g.f, ML_HEAP_SPACE_NAME);
    struct ml_refusals refusals;
    struct ml_error err = {0};
    struct ml_trace *trace;

    (void)state;
    refuse(&g, heap, 0, 30 * MIB);
    refuse(&g, g.f.block, 0, 30 * MIB - 64);
    refuse(&g, heap, 0, 20 * MIB);
    fixture_alloc(&g.f, heap, BASE, 20 * MIB);
    trace = fixture_open(&g.f);
    assert_int_equal(ml_refusals(trace, NULL, 0, &refusals, &err), 0);
    assert_int_equal(refusals.list.len, 3);
    assert_int_equal(refusals.list.items[0].state, ML_REFUSAL_REPEATED);
    assert_int_equal(refusals.list.items[1].driver_bytes, 0);
    assert_int_equal(refusals.standing, 2);
    ml_refusals_release(&refusals);
    ml_trace_free(trace);
}

static struct ml_oom_report told(const struct ml_trace *trace, uint64_t number)
{
    struct ml_oom_opts opts = {.number = number, .top = 5};
    struct ml_oom_report report;
    struct ml_error err = {0};

    if (ml_oom_report(trace, &opts, &report, &err) < 0)
        fail_msg("%s", err.text);
    return report;
}

/* A block in each of two segments; what was between is freed before the refusal, and one
 * block right after it: that one was live. */
static void the_table_is_that_of_the_refusal(void **state)
{
    struct gpu g = gpu_begin(ML_CUDA_MEMORY);
    struct ml_oom_report report;
    const struct ml_oom *o;
    struct ml_trace *trace;

    (void)state;
    for (uint64_t i = 0; i < 2; i++) {
        fixture_alloc(&g.f, g.memory, BASE + i * 100 * MIB, 20 * MIB);
        for (uint64_t k = 0; k < 3; k++)
            fixture_alloc(&g.f, g.torch, BASE + i * 100 * MIB + k * 6 * MIB, 6 * MIB);
    }
    fixture_free(&g.f, g.torch, BASE);
    fixture_free(&g.f, g.torch, BASE + 6 * MIB);
    fixture_free(&g.f, g.torch, BASE + 112 * MIB);
    gpu_free(&g, 4 * MIB);
    refuse(&g, g.torch, 0, 14 * MIB);
    fixture_free(&g.f, g.torch, BASE + 12 * MIB);
    fixture_label(&g.f, g.torch, BASE + 100 * MIB, "late", MEMLEDGER_PARAMETER);
    trace = fixture_open(&g.f);
    report = told(trace, 0);
    o = &report.list.items[0];
    assert_int_equal(o->place.live_bytes, 18 * MIB);
    assert_int_equal(o->place.largest_hole, 12 * MIB);
    assert_int_equal(o->place.holes, 3);         /* 12 and 2 in one segment, 8 in the other */
    assert_int_equal(o->afresh_bytes, 34 * MIB); /* one of 20, and one of 14 */
    assert_int_equal(o->least_capacity, 44 * MIB);
    assert_int_equal(o->verdict, ML_OOM_FRAGMENTATION);
    assert_int_equal(o->changes.items[0].kind, ML_CHANGE_SEGMENTS);
    assert_int_equal(o->changes.items[0].bytes, 6 * MIB);
    assert_int_equal(o->changes.items[0].count, 1);
    assert_int_equal(o->changes.items[1].kind, ML_CHANGE_EXPANDABLE);
    ml_oom_report_release(&report);
    ml_trace_free(trace);
}

static void typed_block(struct gpu *g, const char *type, uint64_t at, uint64_t bytes,
                        enum memledger_category category)
{
    fixture_event(&g->f,
                  (struct ml_event){
                      .kind = ML_MARK,
                      .args = {ML_MARK_TYPE, 0, *type ? ml_maker_string(g->f.maker, type) : 0}});
    fixture_alloc(&g->f, g->torch, BASE + at, bytes);
    fixture_label(&g->f, g->torch, BASE + at, "w", category);
}

/* The bytes that the report says bfloat16 would free; 0: it says nothing. */
static uint64_t bfloat16_frees(struct gpu *g)
{
    struct ml_oom_report report;
    struct ml_trace *trace;
    uint64_t bytes = 0;

    refuse(g, g->torch, 0, 6 * MIB);
    trace = fixture_open(&g->f);
    report = told(trace, 0);
    for (size_t i = 0; i < report.list.items[0].changes.len; i++)
        if (report.list.items[0].changes.items[i].kind == ML_CHANGE_BFLOAT16)
            bytes = report.list.items[0].changes.items[i].bytes;
    ml_oom_report_release(&report);
    ml_trace_free(trace);
    return bytes;
}

/* 1,536 bytes become 768, for which the allocator gives 1,024; 512 stay 512. The block at 8 MiB is
 * another one when memory runs out. */
static void types_say_what_fewer_bits_free(void **state)
{
    struct gpu g = gpu_begin(ML_CUDA_MEMORY);

    (void)state;
    typed_block(&g, "float32", 0, 1536, MEMLEDGER_PARAMETER);
    typed_block(&g, "float32", MIB, 512, MEMLEDGER_PARAMETER);
    typed_block(&g, "float32", 8 * MIB, 8 * MIB, MEMLEDGER_PARAMETER);
    fixture_free(&g.f, g.torch, BASE + 8 * MIB);
    typed_block(&g, "", 8 * MIB, 8 * MIB, MEMLEDGER_PARAMETER);
    typed_block(&g, "float32", 24 * MIB, 4 * MIB, MEMLEDGER_ACTIVATION);
    typed_block(&g, "int64", 32 * MIB, 9 * MIB, MEMLEDGER_ACTIVATION);
    typed_block(&g, "float32", 48 * MIB, MIB, MEMLEDGER_GRADIENT);
    assert_int_equal(bfloat16_frees(&g), 512 + 2 * MIB);
}

static void lower_precision_is_not_advised_twice(void **state)
{
    struct gpu g = gpu_begin(ML_CUDA_MEMORY);

    (void)state;
    typed_block(&g, "float32", 0, 20 * MIB, MEMLEDGER_PARAMETER);
    typed_block(&g, "bfloat16", 32 * MIB, 2 * MIB, MEMLEDGER_ACTIVATION);
    typed_block(&g, "float32", 40 * MIB, 1 * MIB, MEMLEDGER_ACTIVATION);
    assert_int_equal(bfloat16_frees(&g), 0);
}

static const struct ml_oom_change *change_in(const struct ml_oom *o, enum ml_oom_change_kind kind)
{
    for (size_t i = 0; i < o->changes.len; i++)
        if (o->changes.items[i].kind == kind)
            return &o->changes.items[i];
    fail_msg("no change %s", ml_oom_change_name(kind));
    return NULL;
}

static void activation(struct gpu *g, uint32_t scope, uint64_t at, uint64_t bytes)
{
    fixture_event(
        &g->f,
        (struct ml_event){
            .kind = ML_ALLOC, .space = g->torch, .addr = BASE + at, .size = bytes, .scope = scope});
    fixture_label(&g->f, g->torch, BASE + at, "y", MEMLEDGER_ACTIVATION);
}

#define LOADS 40

/* Keeps 256 KiB with each of the first `kept` of 40 loads, in a run without steps. */
static struct ml_oom_report after_loading(struct gpu *g, uint64_t kept, struct ml_trace **trace)
{
    fixture_alloc(&g->f, g->memory, BASE, 40 * MIB);
    for (uint64_t i = 0; i < LOADS; i++) {
        fixture_alloc(&g->f, g->torch, BASE + 16 * MIB + i * MIB / 4, MIB / 4);
        if (i >= kept)
            fixture_free(&g->f, g->torch, BASE + 16 * MIB + i * MIB / 4);
    }
    gpu_free(g, 0);
    refuse(g, g->torch, 0, 32 * MIB);
    *trace = fixture_open(&g->f);
    return told(*trace, 0);
}

static void growth_without_steps_reaches_the_refusal(void **state)
{
    static const struct {
        uint64_t kept;
        bool leaks;
    } runs[] = {{LOADS, true}, {LOADS - 5, false}};

    (void)state;
    for (size_t i = 0; i < ML_ARRAY_SIZE(runs); i++) {
        struct gpu g = gpu_begin(ML_CUDA_MEMORY);
        struct ml_trace *trace;
        struct ml_oom_report report = after_loading(&g, runs[i].kept, &trace);

        assert_true(report.leaks.list.len > 0 && report.leaks.list.items[0].sign != ML_LEAK_MAYBE);
        assert_int_equal(ml_oom_leak(&report.leaks) != NULL, runs[i].leaks);
        if (runs[i].leaks)
            assert_false(change_in(&report.list.items[0], ML_CHANGE_LEAK)->by_steps);
        ml_oom_report_release(&report);
        ml_trace_free(trace);
    }
}

static void data_that_a_model_waits_for_is_no_leak(void **state)
{
    struct gpu g = gpu_begin(ML_CUDA_MEMORY);
    struct ml_oom_report report;
    struct ml_trace *trace;

    (void)state;
    fixture_alloc(&g.f, g.torch, BASE, MIB);
    fixture_label(&g.f, g.torch, BASE, "fc.weight", MEMLEDGER_PARAMETER);
    report = after_loading(&g, LOADS, &trace);
    assert_null(ml_oom_leak(&report.leaks));
    for (size_t i = 0; i < report.list.items[0].changes.len; i++)
        assert_int_not_equal(report.list.items[0].changes.items[i].kind, ML_CHANGE_LEAK);
    ml_oom_report_release(&report);
    ml_trace_free(trace);
}

/* Each step keeps an activation of each of two layers: one reference to a result does that. */
static void a_leak_has_all_groups_that_grow(void **state)
{
    struct gpu g = gpu_begin(ML_CUDA_MEMORY);
    struct ml_maker *maker = g.f.maker;
    uint32_t first =
        ml_maker_scope(maker, 0, MEMLEDGER_SCOPE_MODULE, ml_maker_string(maker, "first"));
    uint32_t last =
        ml_maker_scope(maker, 0, MEMLEDGER_SCOPE_MODULE, ml_maker_string(maker, "last"));
    struct ml_oom_report report;
    const struct ml_oom_change *leak;
    struct ml_trace *trace;

    (void)state;
    fixture_alloc(&g.f, g.memory, BASE, 40 * MIB);
    for (uint64_t i = 0; i < 10; i++) {
        fixture_event(&g.f, (struct ml_event){.kind = ML_MARK, .args = {MEMLEDGER_MARK_STEP, i}});
        activation(&g, first, i * 3 * MIB, 2 * MIB);
        activation(&g, last, i * 3 * MIB + 2 * MIB, MIB);
    }
    refuse(&g, g.torch, 0, 12 * MIB);
    trace = fixture_open(&g.f);
    report = told(trace, 0);
    leak = change_in(&report.list.items[0], ML_CHANGE_LEAK);
    assert_string_equal(leak->name, "first");
    assert_int_equal(leak->count, 2);
    assert_int_equal(leak->bytes * 2, ml_oom_leak(&report.leaks)->grown_bytes * 3);
    assert_int_equal(change_in(&report.list.items[0], ML_CHANGE_BATCH)->of_bytes + leak->bytes,
                     30 * MIB);
    ml_oom_report_release(&report);
    ml_trace_free(trace);
}

/* Each step keeps 2 MiB and needs 7 more. What it keeps neither grows with the batch nor is needed
 * in backward. */
static void a_leak_comes_first(void **state)
{
    struct gpu g = gpu_begin(ML_CUDA_MEMORY);
    struct ml_maker *maker = g.f.maker;
    uint32_t net = ml_maker_scope(maker, 0, MEMLEDGER_SCOPE_MODULE, ml_maker_string(maker, "net"));
    uint32_t fc = ml_maker_scope(maker, net, MEMLEDGER_SCOPE_MODULE, ml_maker_string(maker, "fc"));
    struct ml_oom_report report;
    const struct ml_oom_change *leak;
    const struct ml_oom *o;
    struct ml_trace *trace;

    (void)state;
    fixture_alloc(&g.f, g.memory, BASE, 40 * MIB);
    for (uint64_t i = 0; i < 10; i++) {
        fixture_event(&g.f, (struct ml_event){.kind = ML_MARK, .args = {MEMLEDGER_MARK_STEP, i}});
        activation(&g, fc, i * 2 * MIB, 2 * MIB);
        activation(&g, fc, 32 * MIB, 7 * MIB);
        if (i < 9)
            fixture_free(&g.f, g.torch, BASE + 32 * MIB);
    }
    gpu_free(&g, 0);
    refuse(&g, g.torch, 0, 10 * MIB);
    trace = fixture_open(&g.f);
    report = told(trace, 0);
    o = &report.list.items[0];
    leak = &o->changes.items[0];
    assert_int_equal(leak->kind, ML_CHANGE_LEAK);
    assert_string_equal(leak->name, "net > fc");
    assert_true(leak->fits && leak->bytes >= 12 * MIB && leak->by_steps);
    assert_int_equal(leak->bytes, ml_oom_leak(&report.leaks)->grown_bytes);
    assert_int_equal(change_in(o, ML_CHANGE_RECOMPUTE)->bytes + leak->bytes, 27 * MIB);
    assert_int_equal(change_in(o, ML_CHANGE_BATCH)->of_bytes + leak->bytes, 27 * MIB);
    ml_oom_report_release(&report);
    ml_trace_free(trace);
}

/* A hole of another pool, or of another kind of segment, does not serve. */
static void holes_serve_their_own_pool(void **state)
{
    struct gpu g = gpu_begin(ML_CUDA_MEMORY);
    struct ml_oom_report report;
    struct ml_trace *trace;

    (void)state;
    fixture_alloc(&g.f, g.memory, BASE, 20 * MIB);
    fixture_alloc(&g.f, g.pool, BASE, 2 * MIB);
    fixture_alloc(&g.f, g.memory, BASE + 100 * MIB, 2 * MIB);
    fixture_alloc(&g.f, g.torch, BASE + 100 * MIB, 512);
    gpu_free(&g, 0);
    refuse(&g, g.torch, 0, 6 * MIB);
    refuse(&g, g.pool, 0, 19 * MIB);
    trace = fixture_open(&g.f);
    report = told(trace, 0);
    assert_int_equal(report.list.items[0].place.largest_hole, 18 * MIB);
    assert_int_equal(report.list.items[0].place.largest_request, MIB);
    assert_int_equal(report.list.items[1].place.largest_request, 18 * MIB);
    ml_oom_report_release(&report);
    ml_trace_free(trace);
}

/* A hole goes on from page to page of an expandable segment. */
static void pages_make_one_hole(void **state)
{
    struct gpu g = gpu_begin(ML_CUDA_VIRTUAL);
    struct ml_fragmentation found;
    struct ml_error err = {0};
    struct ml_trace *trace;

    (void)state;
    for (uint64_t i = 0; i < 3; i++)
        fixture_alloc(&g.f, g.memory, BASE + i * 20 * MIB, 20 * MIB);
    fixture_alloc(&g.f, g.torch, BASE, 5 * MIB);
    fixture_alloc(&g.f, g.torch, BASE + 50 * MIB, 10 * MIB);
    trace = fixture_open(&g.f);
    assert_int_equal(ml_fragmentation(trace, &(struct ml_snapshot_opts){0}, 2, &found, &err), 0);
    assert_int_equal(found.free.places.len, 1);
    assert_true(found.free.places.items[0].expandable);
    assert_int_equal(found.free.places.items[0].holes, 1);
    assert_int_equal(found.free.places.items[0].largest_inside, 45 * MIB);
    assert_int_equal(found.free.places.items[0].empty_bytes, 20 * MIB);
    assert_int_equal(found.free.places.items[0].classes[2].holes, 1);
    assert_int_equal(found.map.list.len, 2);
    assert_int_equal(found.map.list.items[0].slack_bytes, 20 * MIB);
    ml_fragmentation_release(&found);
    ml_trace_free(trace);
}

/* All blocks are freed: the segment is cached, and no block itself. */
static void an_empty_segment_is_free(void **state)
{
    struct gpu g = gpu_begin(ML_CUDA_MEMORY);
    struct ml_fragmentation found;
    struct ml_error err = {0};
    struct ml_trace *trace;

    (void)state;
    fixture_alloc(&g.f, g.memory, BASE, 20 * MIB);
    fixture_alloc(&g.f, g.torch, BASE, 5 * MIB);
    fixture_free(&g.f, g.torch, BASE);
    trace = fixture_open(&g.f);
    assert_int_equal(ml_fragmentation(trace, &(struct ml_snapshot_opts){.at = {.kind = ML_AT_END}},
                                      2, &found, &err),
                     0);
    assert_int_equal(found.free.places.items[0].empty_bytes, 20 * MIB);
    assert_int_equal(found.free.places.items[0].foreign_bytes, 0);
    assert_int_equal(found.free.places.items[0].holes, 0);
    assert_int_equal(found.free.places.items[0].largest_request, 20 * MIB);
    ml_fragmentation_release(&found);
    ml_trace_free(trace);
}

/* After a second memory may have gone anywhere: the figure is shown, and nothing rests on it. */
static void an_old_sample_is_no_reason(void **state)
{
    (void)state;
    for (uint64_t age_ns = ML_OOM_OLD_NS; age_ns <= ML_OOM_OLD_NS + 10; age_ns += 10) {
        struct gpu g = gpu_begin(ML_CUDA_MEMORY);
        bool old = age_ns > ML_OOM_OLD_NS;
        struct ml_oom_report report;
        const struct ml_oom *oom;
        struct ml_trace *trace;

        fixture_alloc(&g.f, g.memory, BASE, 100 * MIB);
        fixture_alloc(&g.f, g.torch, BASE, 100 * MIB);
        g.f.time_ns = 100;
        gpu_free(&g, 9000 * MIB);
        g.f.time_ns = 100 + age_ns;
        refuse(&g, g.torch, 0, 30 * MIB);
        trace = fixture_open(&g.f);
        report = told(trace, 1);
        oom = &report.list.items[0];
        assert_true(oom->sampled_free.known);
        assert_int_equal(oom->sampled_free.bytes, 9000 * MIB);
        assert_int_equal(oom->free_age_ns, age_ns);
        assert_int_equal(oom->driver.free.known, !old);
        assert_int_equal(oom->limited, !old);
        ml_oom_report_release(&report);
        ml_trace_free(trace);
    }
}

/* The driver has plenty: what was refused shows the limit, at any other time too. */
static void a_refusal_shows_the_limit(void **state)
{
    struct gpu g = gpu_begin(ML_CUDA_MEMORY);
    struct ml_fragmentation found;
    struct ml_allocator_limit limit;
    struct ml_oom_report report;
    struct ml_error err = {0};
    struct ml_trace *trace;

    (void)state;
    gpu_free(&g, 9000 * MIB);
    fixture_alloc(&g.f, g.memory, BASE, 100 * MIB);
    fixture_alloc(&g.f, g.torch, BASE, 100 * MIB);
    refuse(&g, g.torch, 0, 30 * MIB);
    fixture_free(&g.f, g.torch, BASE);
    fixture_free(&g.f, g.memory, BASE);
    fixture_alloc(&g.f, g.memory, BASE, 40 * MIB);
    fixture_alloc(&g.f, g.torch, BASE, 40 * MIB);
    trace = fixture_open(&g.f);
    assert_int_equal(ml_allocator_limit(trace, GPU, 100, &limit, &err), 0);
    assert_true(limit.known);
    assert_int_equal(limit.at_least, 100 * MIB);
    assert_int_equal(limit.below, 130 * MIB);
    report = told(trace, 1);
    assert_true(report.list.items[0].limited);
    assert_int_equal(report.list.items[0].verdict, ML_OOM_SHORTAGE);
    ml_oom_report_release(&report);
    assert_int_equal(ml_fragmentation(trace, &(struct ml_snapshot_opts){.at = {.kind = ML_AT_END}},
                                      2, &found, &err),
                     0);
    assert_int_equal(found.free.places.items[0].largest_request, 60 * MIB);
    ml_fragmentation_release(&found);
    ml_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_packed_as_pytorch_does),
        cmocka_unit_test(large_blocks_go_first),
        cmocka_unit_test(no_size_overflows),
        cmocka_unit_test(requests_are_served_by_kind),
        cmocka_unit_test(memory_of_the_host_is_judged_by_what_is_free),
        cmocka_unit_test(a_limit_on_the_address_space_is_named),
        cmocka_unit_test(segments_are_judged_by_what_they_need_afresh),
        cmocka_unit_test(without_segments_little_is_known),
        cmocka_unit_test(one_failure_is_told_once),
        cmocka_unit_test(malloc_and_a_framework_fail_once),
        cmocka_unit_test(the_table_is_that_of_the_refusal),
        cmocka_unit_test(types_say_what_fewer_bits_free),
        cmocka_unit_test(lower_precision_is_not_advised_twice),
        cmocka_unit_test(a_leak_comes_first),
        cmocka_unit_test(a_leak_has_all_groups_that_grow),
        cmocka_unit_test(growth_without_steps_reaches_the_refusal),
        cmocka_unit_test(data_that_a_model_waits_for_is_no_leak),
        cmocka_unit_test(holes_serve_their_own_pool),
        cmocka_unit_test(pages_make_one_hole),
        cmocka_unit_test(an_empty_segment_is_free),
        cmocka_unit_test(a_refusal_shows_the_limit),
        cmocka_unit_test(an_old_sample_is_no_reason),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
