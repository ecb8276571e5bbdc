/* test_tags.c: the tags of blocks, and lists of tags.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_analyze_fixture.h"

#include <errno.h>

#include "cuda_spaces.h"
#include "pool_entries.h"
#include "sampled_total.h"
#include "tag_list.h"
#include "tags.h"

static struct ml_tag_list read_list(const struct ml_trace *trace, struct ml_tag_list_opts opts)
{
    struct ml_error err = {0};
    struct ml_tag_list list;

    if (ml_tag_list(trace, &opts, &list, &err) < 0)
        fail_msg("%s", err.text);
    return list;
}

static void check_tags(const struct ml_tag_list *list, const char *const *tags, size_t count)
{
    assert_int_equal(count, list->list.len);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(tags[i], ml_tagged_name(list, &list->list.items[i]));
}

static void alloc_in(struct fixture *f, uint32_t scope, uint64_t addr, uint64_t size)
{
    fixture_event(
        f, (struct ml_event){
               .kind = ML_ALLOC, .space = f->block, .scope = scope, .addr = addr, .size = size});
}

static uint32_t scope(struct fixture *f, uint32_t parent, uint32_t kind, const char *name)
{
    return ml_maker_scope(f->maker, parent, kind, ml_maker_string(f->maker, name));
}

static void test_labels(void **state)
{
    static const struct {
        const char *label;
        int category;
        const char *tag;
    } cases[] = {
        {"fc1.weight", MEMLEDGER_PARAMETER, "in_arg:fc1.weight"},
        {"fc1.weight", MEMLEDGER_GRADIENT, "arg_grad:fc1.weight"},
        {"fc1.weight.grad", MEMLEDGER_GRADIENT, "arg_grad:fc1.weight"},
        {"bn.running_mean", MEMLEDGER_BUFFER, "aux_state:bn.running_mean"},
        {"fc1.weight.exp_avg", MEMLEDGER_OPTIMIZER_STATE, "optimizer_state:exp_avg:fc1.weight"},
        {"momentum", MEMLEDGER_OPTIMIZER_STATE, "optimizer_state:momentum"},
        {"input.0", MEMLEDGER_INPUT, "input.0"},
        {"anything at all", MEMLEDGER_OTHER, "anything at all"},
        {"fc1_oedge0", MEMLEDGER_ACTIVATION, "data_entry:fc1_oedge0"},
        {"fc1_backward_oedge0", MEMLEDGER_INTERMEDIATE_GRADIENT, "data_entry:fc1_backward_oedge0"},
        {"_head_grad_0", MEMLEDGER_INTERMEDIATE_GRADIENT, "head_grad:_head_grad_0"},
        {"embed_weight:row_sparse:idx", MEMLEDGER_GRADIENT, "arg_grad:embed_weight:row_sparse:idx"},
        {"embed_weight.mean:row_sparse:idx", MEMLEDGER_OPTIMIZER_STATE,
         "optimizer_state:mean:embed_weight:row_sparse:idx"},
        /* labels of older traces */
        {"in_arg:fc1_weight", MEMLEDGER_PARAMETER, "in_arg:fc1_weight"},
        {"optimizer_state:mean:fc1_weight", MEMLEDGER_OPTIMIZER_STATE,
         "optimizer_state:mean:fc1_weight"},
        {"updater:optimizer_state:_zeros", MEMLEDGER_OPTIMIZER_STATE,
         "updater:optimizer_state:_zeros"},
        {"a:b:", MEMLEDGER_PARAMETER, "in_arg:a:b:"},
        {"head_grad:data_entry:fc1_oedge0", MEMLEDGER_INTERMEDIATE_GRADIENT,
         "head_grad:data_entry:fc1_oedge0"},
    };
    const char *tags[ML_ARRAY_SIZE(cases)];
    struct fixture f = fixture_begin();
    struct ml_trace *trace;
    struct ml_tag_list list;

    (void)state;
    for (size_t i = 0; i < ML_ARRAY_SIZE(cases); i++) {
        fixture_alloc(&f, f.block, 4096 * (i + 1), 100);
        fixture_label(&f, f.block, 4096 * (i + 1), cases[i].label, cases[i].category);
        tags[i] = cases[i].tag;
    }
    trace = fixture_open(&f);
    for (int gross = 0; gross < 2; gross++) {
        list = read_list(trace, (struct ml_tag_list_opts){.gross = gross});
        check_tags(&list, tags, ML_ARRAY_SIZE(tags));
        assert_int_equal(100 * ML_ARRAY_SIZE(cases), list.bytes);
        ml_tag_list_release(&list);
    }
    ml_trace_free(trace);
}

/* Outputs are numbered again in each step; a block freed in its own call is workspace. */
static void test_places(void **state)
{
    static const char *const tags[] = {
        "unknown:heap",        "data_entry:fc_oedge0", "data_entry:fc_oedge1",
        "workspace:aten::mul", "data_entry:fc_oedge0", "unknown:_zeros",
    };
    struct fixture f = fixture_begin();
    uint32_t model = scope(&f, 0, MEMLEDGER_SCOPE_MODULE, "GPT");
    uint32_t fc = scope(&f, model, MEMLEDGER_SCOPE_MODULE, "fc");
    uint32_t mul = scope(&f, fc, MEMLEDGER_SCOPE_OPERATOR, "aten::mul");
    uint32_t zeros = scope(&f, 0, MEMLEDGER_SCOPE_OPERATOR, "_zeros");
    struct ml_trace *trace;
    struct ml_tag_list list;

    (void)state;
    fixture_alloc(&f, f.block, 0x1000, 1);
    fixture_event(&f, (struct ml_event){.kind = ML_PUSH, .scope = fc});
    alloc_in(&f, fc, 0x2000, 2);
    alloc_in(&f, fc, 0x3000, 3);
    alloc_in(&f, mul, 0x4000, 4);
    fixture_free(&f, f.block, 0x4000);
    fixture_event(&f, (struct ml_event){.kind = ML_POP});
    fixture_free(&f, f.block, 0x2000);
    fixture_event(&f, (struct ml_event){.kind = ML_PUSH, .scope = fc});
    alloc_in(&f, fc, 0x5000, 5);
    fixture_event(&f, (struct ml_event){.kind = ML_POP});
    alloc_in(&f, zeros, 0x6000, 6);
    trace = fixture_open(&f);
    list = read_list(trace, (struct ml_tag_list_opts){.gross = true});
    check_tags(&list, tags, ML_ARRAY_SIZE(tags));
    ml_tag_list_release(&list);
    ml_trace_free(trace);
}

/* Memory that operators borrow from MXNet is their workspace, in all spellings of its label. */
static void test_borrowed(void **state)
{
    static const struct {
        const char *label;
        int category;
    } cases[] = {
        {"temp_space", MEMLEDGER_TEMPORARY},
        {"resource:temp_space (dot)", MEMLEDGER_TEMPORARY},
        {"resource:temp_space (dot-inl.h +365)", MEMLEDGER_OTHER},
        {"net:resource:temp_space (dot-inl.h +365)", MEMLEDGER_OTHER},
    };
    struct fixture f = fixture_begin();
    uint32_t dot = scope(&f, 0, MEMLEDGER_SCOPE_OPERATOR, "dot");
    struct ml_trace *trace;
    struct ml_tag_list list;

    (void)state;
    for (size_t i = 0; i < ML_ARRAY_SIZE(cases); i++) {
        alloc_in(&f, dot, 4096 * (i + 1), 1);
        fixture_label(&f, f.block, 4096 * (i + 1), cases[i].label, cases[i].category);
    }
    trace = fixture_open(&f);
    list = read_list(trace, (struct ml_tag_list_opts){.gross = true});
    assert_int_equal(list.list.len, ML_ARRAY_SIZE(cases));
    for (size_t i = 0; i < list.list.len; i++)
        assert_string_equal("workspace:dot", ml_tagged_name(&list, &list.list.items[i]));
    ml_tag_list_release(&list);
    ml_trace_free(trace);
}

/* A key-value store keeps copies of parameters for the optimizer. */
static void test_stored(void **state)
{
    static const char *const tags[] = {"kvstore:w", "optimizer_state:kvstore:3"};
    struct fixture f = fixture_begin();
    uint32_t optimizer = scope(&f, 0, MEMLEDGER_SCOPE_PHASE, "optimizer");
    uint32_t outside = scope(&f, 0, MEMLEDGER_SCOPE_USER, "kvstore:w");
    uint32_t store = scope(&f, optimizer, MEMLEDGER_SCOPE_USER, "kvstore:3");
    struct ml_trace *trace;
    struct ml_tag_list list;

    (void)state;
    alloc_in(&f, outside, 0x1000, 1);
    fixture_event(&f, (struct ml_event){.kind = ML_PUSH, .scope = optimizer});
    alloc_in(&f, store, 0x2000, 2);
    fixture_event(&f, (struct ml_event){.kind = ML_POP});
    trace = fixture_open(&f);
    list = read_list(trace, (struct ml_tag_list_opts){.gross = true});
    check_tags(&list, tags, ML_ARRAY_SIZE(tags));
    ml_tag_list_release(&list);
    ml_trace_free(trace);
}

/* ---- GPUs --------------------------------------------------------------- */

static uint32_t gpu_space(struct fixture *f, const char *device, uint32_t level, const char *name)
{
    return ml_maker_space(f->maker, 0, ml_maker_string(f->maker, device), level,
                          ml_maker_string(f->maker, name));
}

static void sample(struct fixture *f, const char *device, uint64_t used, uint64_t by_process)
{
    uint64_t bits = ML_SAMPLE_USED | ML_SAMPLE_BY_PROCESS | UINT64_C(1) << ML_SAMPLE_PROCESS_SHIFT;

    fixture_event(f, (struct ml_event){.kind = ML_SAMPLE,
                                       .args = {ml_maker_string(f->maker, device), bits, used, 0, 0,
                                                by_process}});
}

static struct ml_trace *gpu_trace(void)
{
    struct fixture f = fixture_begin();
    uint32_t driver = gpu_space(&f, "cuda:0", MEMLEDGER_DRIVER, ML_CUDA_MEMORY);
    uint32_t context = gpu_space(&f, "cuda:0", MEMLEDGER_DRIVER, ML_CUDA_CONTEXT);
    uint32_t blocks = gpu_space(&f, "cuda:0", MEMLEDGER_BLOCK, "mxnet");
    uint32_t other = gpu_space(&f, "cuda:1", MEMLEDGER_BLOCK, "mxnet");

    fixture_alloc(&f, f.block, 0x1000, 7); /* of the host: not looked at */
    fixture_alloc(&f, context, 1, 5000);
    sample(&f, "cuda:0", 6000, 5000);
    fixture_alloc(&f, driver, 0x10000, 4096);
    fixture_alloc(&f, blocks, 0x10000, 100);
    fixture_label(&f, blocks, 0x10000, "in_arg:a", MEMLEDGER_PARAMETER);
    fixture_free(&f, blocks, 0x10000);
    fixture_alloc(&f, blocks, 0x10000, 300);
    fixture_label(&f, blocks, 0x10000, "in_arg:b", MEMLEDGER_PARAMETER);
    fixture_alloc(&f, other, 0x50000, 50);
    sample(&f, "cuda:1", 900, 50);
    sample(&f, "cuda:0", 11000, 9500);
    sample(&f, "cuda:0", 7000, 5000);
    return fixture_open(&f);
}

static void test_levels(void **state)
{
    static const char *const asked[] = {"in_arg:a"},
                             *const given[] = {"in_arg:a", "in_arg:b", "unknown:mxnet"},
                             *const last[] = {"unknown:mxnet"};
    struct ml_trace *trace = gpu_trace();
    struct ml_tag_list list;

    (void)state;
    assert_true(ml_trace_has_mxnet_pool(trace, NULL));
    assert_false(ml_trace_has_mxnet_pool(trace, "1"));
    list = read_list(trace, (struct ml_tag_list_opts){.gross = true, .level = MEMLEDGER_DRIVER});
    check_tags(&list, asked, 1);
    assert_int_equal(4096, list.bytes);
    ml_tag_list_release(&list);
    list = read_list(trace, (struct ml_tag_list_opts){.level = MEMLEDGER_DRIVER});
    check_tags(&list, asked, 1);
    ml_tag_list_release(&list);
    list = read_list(trace, (struct ml_tag_list_opts){.gross = true});
    check_tags(&list, given, 3);
    ml_tag_list_release(&list);
    list = read_list(trace, (struct ml_tag_list_opts){.gross = true, .device = "1"});
    check_tags(&list, last, 1);
    ml_tag_list_release(&list);
    ml_trace_free(trace);
}

static uint64_t sampled(const struct ml_trace *trace, struct ml_sampled_total_opts opts)
{
    struct ml_error err = {0};
    uint64_t bytes = 0;

    if (ml_sampled_total(trace, &opts, &bytes, &err) < 0)
        fail_msg("%s", err.text);
    return bytes;
}

static void test_sampled_totals(void **state)
{
    struct ml_trace *trace = gpu_trace();
    struct ml_error err = {0};
    uint64_t bytes;

    (void)state;
    assert_int_equal(9550, sampled(trace, (struct ml_sampled_total_opts){.at_peak = true}));
    assert_int_equal(5050, sampled(trace, (struct ml_sampled_total_opts){.time_ns = UINT64_MAX}));
    assert_int_equal(5000, sampled(trace, (struct ml_sampled_total_opts){.time_ns = 30}));
    assert_int_equal(
        50, sampled(trace, (struct ml_sampled_total_opts){.at_peak = true, .device = "1"}));
    assert_int_equal(
        -ENODATA,
        ml_sampled_total(trace, &(struct ml_sampled_total_opts){.time_ns = 10}, &bytes, &err));
    assert_non_null(strstr(err.text, "no samples"));
    ml_trace_free(trace);
}

static void test_pool_entries(void **state)
{
    struct ml_trace *trace = gpu_trace();
    struct ml_pool_entries entries;
    struct ml_error err = {0};

    (void)state;
    assert_int_equal(
        0, ml_pool_entries(trace, &(struct ml_pool_opts){.at.kind = ML_AT_END}, &entries, &err));
    assert_int_equal(2, entries.list.len);
    assert_string_equal("in_arg:b", entries.list.items[0].name);
    assert_int_equal(300, entries.list.items[0].requested_bytes);
    assert_int_equal(4096, entries.list.items[0].actual_bytes);
    assert_true(entries.list.items[0].reused);
    assert_string_equal("cuda:1", entries.list.items[1].device);
    assert_false(entries.list.items[1].reused);
    ml_pool_entries_release(&entries);
    ml_trace_free(trace);
}

/* Two processes have one address each, which is the same number. */
static void test_processes_apart(void **state)
{
    static const char *const tags[] = {"in_arg:a", "in_arg:b"};
    struct fixture f = fixture_begin();
    struct ml_pool_entries entries;
    struct ml_error err = {0};
    struct ml_trace *trace;
    struct ml_tag_list list;

    (void)state;
    fixture_process(&f, 1, 77, -1, ML_STARTED);
    for (uint32_t process = 0; process < 2; process++) {
        uint32_t device = ml_maker_string(f.maker, "cuda:0");
        uint32_t driver = ml_maker_space(f.maker, process, device, MEMLEDGER_DRIVER,
                                         ml_maker_string(f.maker, ML_CUDA_MEMORY));
        uint32_t blocks = ml_maker_space(f.maker, process, device, MEMLEDGER_BLOCK,
                                         ml_maker_string(f.maker, "mxnet"));

        fixture_alloc(&f, driver, 0x10000, 4096);
        fixture_alloc(&f, blocks, 0x10000, 100 + process);
        fixture_label(&f, blocks, 0x10000, tags[process], MEMLEDGER_PARAMETER);
    }
    trace = fixture_open(&f);
    list = read_list(trace, (struct ml_tag_list_opts){.level = MEMLEDGER_DRIVER});
    check_tags(&list, tags, 2);
    ml_tag_list_release(&list);
    assert_int_equal(
        0, ml_pool_entries(trace, &(struct ml_pool_opts){.at.kind = ML_AT_END}, &entries, &err));
    assert_int_equal(2, entries.list.len);
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(tags[i], entries.list.items[i].name);
        assert_int_equal(100 + i, entries.list.items[i].requested_bytes);
        assert_false(entries.list.items[i].reused);
    }
    ml_pool_entries_release(&entries);
    ml_trace_free(trace);
}

static void test_torch_words(void **state)
{
    static const char *const cases[][2] = {
        {"in_arg:fc1.weight", "parameter:fc1.weight"},
        {"arg_grad:fc1.weight", "gradient:fc1.weight"},
        {"aux_state:bn.mean", "buffer:bn.mean"},
        {"optimizer_state:exp_avg:fc1.weight", "optimizer_state:exp_avg:fc1.weight"},
        {"data_entry:encoder.0_oedge1", "activation:encoder.0[1]"},
        {"data_entry:encoder.0_backward_oedge12", "intermediate_gradient:encoder.0[12]"},
        {"data_entry:x_oedge0_oedge1", "activation:x_oedge0[1]"},
        {"data_entry:plain", "activation:plain"},
        {"data_entry:_backward", "activation:_backward"},
        {"unknown:torch", "other:torch"},
        {"input.0", "input.0"},
    };
    struct ml_buf words;

    (void)state;
    ml_buf_init(&words);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ml_buf_clear(&words);
        assert_int_equal(ml_tag_in_torch_words(cases[i][0], &words), 0);
        assert_int_equal(words.len, strlen(cases[i][1]));
        assert_memory_equal(words.data, cases[i][1], words.len);
    }
    ml_buf_release(&words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_labels),       cmocka_unit_test(test_places),
        cmocka_unit_test(test_borrowed),     cmocka_unit_test(test_stored),
        cmocka_unit_test(test_levels),       cmocka_unit_test(test_sampled_totals),
        cmocka_unit_test(test_pool_entries), cmocka_unit_test(test_processes_apart),
        cmocka_unit_test(test_torch_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
