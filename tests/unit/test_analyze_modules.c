/* test_analyze_modules.c: blocks by module: the tree, the list of layers and the
 * table agree with each other and with the replay, at every instant.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_analyze_fixture.h"

#include <errno.h>
#include <math.h>

#include "breakdown.h"
#include "instant.h"
#include "module_tree.h"
#include "steps.h"

/* ---- A training run ---------------------------------------------------- */

/* Two steps of a model with an embedding and two layers in an encoder, on the device
 * "cpu", and a loss that is a module of its own. */
struct model {
    struct fixture f;
    uint32_t gpt, embed, encoder, layer0, layer1, loss; /* forward */
    uint32_t back_layer1, back_layer0, recompute1, optimizer;
};

#define STRINGS_MAX 32

/* A string has one number, as in recorded traces; the maker gives a new one each time. */
static struct {
    const char *string;
    uint32_t number;
} known[STRINGS_MAX];
static size_t known_count;

static uint32_t text(struct fixture *f, const char *string)
{
    for (size_t i = 0; i < known_count; i++)
        if (strcmp(known[i].string, string) == 0)
            return known[i].number;
    assert_true(known_count < STRINGS_MAX);
    known[known_count].string = string;
    known[known_count].number = ml_maker_string(f->maker, string);
    return known[known_count++].number;
}

static struct fixture begin(void)
{
    known_count = 0;
    return fixture_begin();
}

static uint32_t phase(struct fixture *f, const char *name)
{
    return ml_maker_scope(f->maker, 0, MEMLEDGER_SCOPE_PHASE, text(f, name));
}

static uint32_t module(struct fixture *f, uint32_t parent, const char *name, const char *class_name)
{
    return ml_maker_class_scope(f->maker, parent, MEMLEDGER_SCOPE_MODULE, text(f, name),
                                text(f, class_name));
}

static void in(struct fixture *f, uint32_t in_scope, uint64_t addr, uint64_t size)
{
    fixture_event(
        f, (struct ml_event){
               .kind = ML_ALLOC, .space = f->block, .scope = in_scope, .addr = addr, .size = size});
}

static void mark(struct fixture *f, uint64_t kind, uint64_t number, const char *name)
{
    fixture_event(f, (struct ml_event){.kind = ML_MARK,
                                       .args = {kind, number, ml_maker_string(f->maker, name)}});
}

static void push(struct fixture *f, uint32_t to)
{
    fixture_event(f, (struct ml_event){.kind = ML_PUSH, .scope = to});
}

static void pop(struct fixture *f, uint32_t to)
{
    fixture_event(f, (struct ml_event){.kind = ML_POP, .scope = to});
}

static void define_scopes(struct model *m)
{
    struct fixture *f = &m->f;
    uint32_t gpt;

    m->gpt = module(f, 0, "GPT", "GPT");
    m->embed = module(f, m->gpt, "embed", "Embedding");
    m->encoder = module(f, m->gpt, "encoder", "Encoder");
    m->layer0 = module(f, m->encoder, "encoder.layers.0", "Block");
    m->layer1 = module(f, m->encoder, "encoder.layers.1", "Block");
    m->loss = module(f, 0, "CrossEntropyLoss", "CrossEntropyLoss");
    gpt = module(f, phase(f, "backward"), "GPT", "GPT");
    m->back_layer1 = module(f, module(f, gpt, "encoder", "Encoder"), "encoder.layers.1", "Block");
    m->back_layer0 = ml_maker_scope(f->maker, module(f, gpt, "encoder.layers.0", "Block"),
                                    MEMLEDGER_SCOPE_OPERATOR, text(f, "AddmmBackward0"));
    m->recompute1 = module(f, phase(f, "recompute"), "encoder.layers.1", "Block");
    m->optimizer = phase(f, "optimizer");
}

/* The first block of each kind; sizes are powers of two, so that sums tell their parts. */
static void one_step(struct model *m, uint64_t number, uint64_t more)
{
    struct fixture *f = &m->f;

    mark(f, MEMLEDGER_MARK_STEP, number, "");
    mark(f, MEMLEDGER_MARK_PHASE, 0, "forward");
    push(f, m->gpt);
    push(f, m->layer0);
    in(f, m->layer0, 0x5000, 64 + more);
    pop(f, m->gpt);
    push(f, m->layer1);
    in(f, m->layer1, 0x6000, 128);
    in(f, m->layer1, 0x6800, 4096); /* workspace */
    fixture_free(f, f->block, 0x6800);
    pop(f, m->gpt);
    pop(f, 0);
    mark(f, MEMLEDGER_MARK_PHASE, 0, "backward");
    in(f, m->recompute1, 0x7000, 256);
    in(f, m->back_layer1, 0x8000, 512);
    in(f, m->back_layer1, 0x9000, 1024);
    fixture_free(f, f->block, 0x7000);
    in(f, m->back_layer0, 0xa000, 2048);
    fixture_label(f, f->block, 0x9000, "encoder.layers.1.weight", MEMLEDGER_GRADIENT);
    mark(f, MEMLEDGER_MARK_PHASE, 0, "");
    fixture_free(f, f->block, 0x5000);
    fixture_free(f, f->block, 0x6000);
    fixture_free(f, f->block, 0x8000);
    fixture_free(f, f->block, 0x9000);
    fixture_free(f, f->block, 0xa000);
}

static struct ml_trace *train(void)
{
    struct model m = {.f = begin()};
    struct fixture *f = &m.f;

    define_scopes(&m);
    in(f, 0, 0x1000, 1);
    fixture_label(f, f->block, 0x1000, "position", MEMLEDGER_PARAMETER);
    in(f, 0, 0x2000, 2);
    fixture_label(f, f->block, 0x2000, "embed.weight", MEMLEDGER_PARAMETER);
    in(f, 0, 0x3000, 4);
    fixture_label(f, f->block, 0x3000, "encoder.layers.1.weight", MEMLEDGER_PARAMETER);
    in(f, 0, 0x3800, 8);
    one_step(&m, 0, 0);
    push(f, m.optimizer);
    in(f, m.optimizer, 0x4000, 16);
    fixture_label(f, f->block, 0x4000, "encoder.layers.1.weight.exp_avg",
                  MEMLEDGER_OPTIMIZER_STATE);
    pop(f, 0);
    one_step(&m, 1, 10000);
    fixture_event(f, (struct ml_event){.kind = ML_OOM, .space = f->block, .size = 1 << 20});
    fixture_event(f, (struct ml_event){.kind = ML_PROCESS_END, .args = {0, 1}});
    return fixture_open(f);
}

/* ---- What is looked at ------------------------------------------------- */

static struct ml_module_tree tree_of(const struct ml_trace *trace, const char *at, size_t depth,
                                     double min)
{
    struct ml_tree_opts opts = {.depth = depth, .min_percent = min};
    struct ml_module_tree tree;
    struct ml_error err = {0};

    assert_true(ml_at_parse(at, &opts.snapshot.at));
    if (ml_module_tree(trace, &opts, &tree, &err) < 0)
        fail_msg("%s", err.text);
    return tree;
}

static const struct ml_tree_row *row_of(const struct ml_module_tree *tree, const char *title)
{
    for (size_t i = 0; i < tree->rows.len; i++)
        if (strcmp(tree->rows.items[i].title, title) == 0 && !tree->rows.items[i].folded)
            return &tree->rows.items[i];
    fail_msg("no module %s", title);
    return NULL;
}

/* What the replay itself says is live after that many events. */
static uint64_t live_after(const struct ml_trace *trace, uint64_t events)
{
    struct ml_error err = {0};
    struct ml_replay replay;
    uint64_t bytes;

    assert_int_equal(ml_replay_init(&replay, trace), 0);
    assert_int_equal(ml_replay_trace(&replay, events, &err), 0);
    bytes = replay.bytes.live_bytes;
    ml_replay_release(&replay);
    return bytes;
}

static uint64_t sum_of(const struct ml_holding *holding)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < ML_CATEGORIES; i++)
        bytes += holding->by_category[i];
    return bytes;
}

/* ---- Tests ------------------------------------------------------------- */

static void blocks_belong_to_modules_by_scope_and_label(void **state)
{
    struct ml_trace *trace = train();
    /* in backward of the first step, all of it alive but the workspace */
    struct ml_module_tree tree = tree_of(trace, "260ns", 0, 0);
    const struct ml_tree_row *layer1 = row_of(&tree, "GPT > encoder.layers.1");
    const struct ml_tree_row *encoder = row_of(&tree, "GPT > encoder");
    const struct ml_tree_row *gpt = row_of(&tree, "GPT");

    (void)state;
    assert_int_equal(layer1->own.by_category[MEMLEDGER_PARAMETER], 4);
    assert_int_equal(layer1->own.by_category[MEMLEDGER_ACTIVATION], 128);
    assert_int_equal(layer1->own.by_category[MEMLEDGER_INTERMEDIATE_GRADIENT], 512);
    assert_int_equal(layer1->own.by_category[MEMLEDGER_GRADIENT], 1024);
    assert_string_equal(layer1->name, "layers.1");
    assert_string_equal(layer1->class_name, "Block");
    assert_int_equal(layer1->depth, 3);
    assert_int_equal(row_of(&tree, "GPT > encoder.layers.0")->own.bytes, 64 + 2048);
    assert_int_equal(encoder->own.bytes, 0);
    assert_int_equal(encoder->all.bytes, 4 + 128 + 512 + 1024 + 64 + 2048);
    assert_int_equal(row_of(&tree, "GPT > embed")->own.bytes, 2);
    assert_int_equal(gpt->own.bytes, 1); /* the label begins with no module's path */
    assert_int_equal(gpt->all.bytes, encoder->all.bytes + 2 + 1);
    assert_int_equal(row_of(&tree, "")->all.bytes, 8);
    assert_true(row_of(&tree, "")->no_module);
    assert_int_equal(tree.all.bytes, gpt->all.bytes + 8);
    assert_false(tree.from_scopes);
    ml_module_tree_release(&tree);
    ml_trace_free(trace);
}

static void recompute_without_its_model_is_the_same_module(void **state)
{
    struct ml_trace *trace = train();
    struct ml_module_tree tree = tree_of(trace, "200ns", 0, 0);

    (void)state;
    assert_int_equal(row_of(&tree, "GPT > encoder.layers.1")->own.bytes, 4 + 128 + 256);
    ml_module_tree_release(&tree);
    ml_trace_free(trace);
}

static void optimizer_state_belongs_to_its_parameter(void **state)
{
    struct ml_trace *trace = train();
    struct ml_module_tree tree = tree_of(trace, "end", 0, 0);

    (void)state;
    assert_int_equal(
        row_of(&tree, "GPT > encoder.layers.1")->own.by_category[MEMLEDGER_OPTIMIZER_STATE], 16);
    assert_int_equal(tree.all.bytes, 1 + 2 + 4 + 8 + 16);
    ml_module_tree_release(&tree);
    ml_trace_free(trace);
}

/* Every row is its own and those one level below it. */
static void check_rows(const struct ml_module_tree *tree)
{
    uint64_t top = 0;

    for (size_t i = 0; i < tree->rows.len; i++) {
        const struct ml_tree_row *row = &tree->rows.items[i];
        uint64_t bytes = row->own.bytes;

        top += row->depth == 1 ? row->all.bytes : 0;
        assert_int_equal(sum_of(&row->all), row->all.bytes);
        assert_int_equal(sum_of(&row->own), row->own.bytes);
        if (row->folded || row->hidden)
            continue;
        for (size_t j = i + 1; j < tree->rows.len && tree->rows.items[j].depth > row->depth; j++)
            if (tree->rows.items[j].depth == row->depth + 1)
                bytes += tree->rows.items[j].all.bytes;
        assert_int_equal(row->all.bytes, bytes);
    }
    assert_int_equal(top, tree->all.bytes);
    assert_int_equal(sum_of(&tree->all), tree->all.bytes);
}

static void check_layers(const struct ml_trace *trace, const char *at, uint64_t live)
{
    struct ml_snapshot_opts opts = {0};
    struct ml_error err = {0};
    struct ml_layers layers;
    uint64_t bytes = 0;

    assert_true(ml_at_parse(at, &opts.at));
    assert_int_equal(ml_layers(trace, &opts, &layers, &err), 0);
    for (size_t i = 0; i < layers.list.len; i++) {
        assert_int_equal(sum_of(&layers.list.items[i].own), layers.list.items[i].own.bytes);
        bytes += layers.list.items[i].own.bytes;
    }
    assert_int_equal(bytes, live);
    assert_int_equal(layers.all.bytes, live);
    ml_layers_release(&layers);
}

static void check_table(const struct ml_trace *trace, const char *at, const char *by, uint64_t live)
{
    struct ml_breakdown_opts opts = {.top = 2};
    struct ml_breakdown breakdown;
    struct ml_error err = {0};
    uint64_t bytes, blocks;

    assert_true(ml_at_parse(at, &opts.snapshot.at));
    assert_int_equal(ml_breakdown_parse(by, &opts, &err), 0);
    assert_int_equal(ml_breakdown(trace, &opts, &breakdown, &err), 0);
    bytes = breakdown.rest.bytes;
    blocks = breakdown.rest.blocks;
    for (size_t i = 0; i < breakdown.groups.len; i++) {
        bytes += breakdown.groups.items[i].bytes;
        blocks += breakdown.groups.items[i].blocks;
    }
    assert_int_equal(bytes, live);
    assert_int_equal(breakdown.at.bytes, live);
    assert_int_equal(blocks, breakdown.at.blocks);
    ml_breakdown_release(&breakdown);
}

static void all_reports_add_up_to_what_is_live(void **state)
{
    static const char *const instants[] = {"peak",   "end",        "oom",   "step:0",
                                           "step:1", "step:0:end", "150ns", "1h"};
    static const char *const keys[] = {NULL,    "label",  "scope", "class",          "phase",
                                       "stack", "device", "space", "process,thread", "module"};
    struct ml_trace *trace = train();

    (void)state;
    for (size_t i = 0; i < ML_ARRAY_SIZE(instants); i++) {
        struct ml_module_tree tree = tree_of(trace, instants[i], 0, 0);
        struct ml_module_tree small = tree_of(trace, instants[i], 2, 30);
        uint64_t live = live_after(trace, tree.at.instant.event);

        assert_int_equal(tree.all.bytes, live);
        assert_int_equal(small.all.bytes, live);
        check_rows(&tree);
        check_rows(&small);
        check_layers(trace, instants[i], live);
        for (size_t k = 0; k < ML_ARRAY_SIZE(keys); k++)
            check_table(trace, instants[i], keys[k], live);
        ml_module_tree_release(&small);
        ml_module_tree_release(&tree);
    }
    ml_trace_free(trace);
}

static void layers_come_in_the_order_of_the_model(void **state)
{
    static const char *const titles[] = {"GPT", "GPT > embed", "GPT > encoder.layers.0",
                                         "GPT > encoder.layers.1", ""};
    struct ml_trace *trace = train();
    struct ml_snapshot_opts opts = {.at = {.kind = ML_AT_PEAK}};
    struct ml_error err = {0};
    struct ml_layers layers;

    (void)state;
    assert_int_equal(ml_layers(trace, &opts, &layers, &err), 0);
    assert_int_equal(layers.list.len, ML_ARRAY_SIZE(titles));
    for (size_t i = 0; i < layers.list.len; i++)
        assert_string_equal(layers.list.items[i].title, titles[i]);
    assert_string_equal(layers.list.items[1].class_name, "Embedding");
    ml_layers_release(&layers);
    ml_trace_free(trace);
}

static void small_and_deep_modules_are_put_together(void **state)
{
    struct ml_trace *trace = train();
    struct ml_module_tree tree = tree_of(trace, "260ns", 0, 90);

    (void)state;
    assert_int_equal(tree.rows.len, 5); /* GPT, encoder, its two layers, embed, none */
    assert_int_equal(tree.rows.items[2].folded, 2);
    assert_int_equal(tree.rows.items[2].all.bytes, row_of(&tree, "GPT > encoder")->all.bytes);
    ml_module_tree_release(&tree);
    tree = tree_of(trace, "260ns", 1, 0);
    assert_int_equal(tree.rows.len, 2);
    assert_int_equal(tree.rows.items[0].hidden, 4);
    ml_module_tree_release(&tree);
    ml_trace_free(trace);
}

static void groups_are_those_of_the_keys(void **state)
{
    struct ml_trace *trace = train();
    struct ml_breakdown_opts opts = {.top = 10,
                                     .snapshot.at = {.kind = ML_AT_TIME, .time_ns = 260}};
    struct ml_breakdown b;
    struct ml_error err = {0};

    (void)state;
    assert_int_equal(ml_breakdown_parse("class,phase,class", &opts, &err), 0);
    assert_int_equal(opts.by_count, 2);
    assert_int_equal(ml_breakdown(trace, &opts, &b, &err), 0);
    assert_string_equal(b.groups.items[0].names[0], "Block");
    assert_string_equal(b.groups.items[0].names[1], "backward");
    assert_int_equal(b.groups.items[0].bytes, 512 + 1024 + 2048);
    assert_int_equal(b.groups.items[0].blocks, 3);
    assert_string_equal(b.groups.items[1].names[1], "forward");
    assert_int_equal(b.groups.items[1].bytes, 64 + 128);
    assert_true(fabs(b.groups.items[1].percent - 100.0 * 192 / (double)b.at.bytes) < 1e-9);
    ml_breakdown_release(&b);
    assert_int_equal(ml_breakdown_parse("module,clas", &opts, &err), -EINVAL);
    assert_non_null(strstr(err.text, "'clas' is not one of: module, category"));
    ml_trace_free(trace);
}

static void steps_are_those_of_the_list_of_steps(void **state)
{
    struct ml_trace *trace = train();
    struct ml_steps steps;
    struct ml_error err = {0};

    (void)state;
    assert_int_equal(ml_steps_read(trace, NULL, &steps, &err), 0);
    assert_int_equal(steps.list.len, 2);
    for (size_t i = 0; i < steps.list.len; i++) {
        const struct ml_step *step = &steps.list.items[i];
        struct ml_at at = {.kind = ML_AT_STEP, .number = step->number};
        struct ml_instant instant;

        assert_int_equal(ml_instant_find(trace, &at, NULL, &instant, &err), 0);
        assert_int_equal(instant.event, step->peak_event);
        assert_int_equal(instant.time_ns, step->peak_time_ns);
        assert_int_equal(ml_instant_find(trace, &at, "cpu", &instant, &err), 0);
        assert_int_equal(instant.event, step->peak_event);
        at.kind = ML_AT_STEP_END;
        assert_int_equal(ml_instant_find(trace, &at, NULL, &instant, &err), 0);
        assert_int_equal(instant.event, step->end_event);
    }
    ml_steps_release(&steps);
    ml_trace_free(trace);
}

static void assert_no_instant(const struct ml_trace *trace, const char *at, const char *device,
                              int code, const char *text)
{
    struct ml_instant instant;
    struct ml_error err = {0};
    struct ml_at asked;

    assert_true(ml_at_parse(at, &asked));
    assert_int_equal(ml_instant_find(trace, &asked, device, &instant, &err), code);
    assert_non_null(strstr(err.text, text));
}

static void what_is_not_there_is_told_with_what_is(void **state)
{
    struct ml_trace *trace = train();

    (void)state;
    assert_no_instant(trace, "step:7", NULL, -ENOENT, "the trace has steps 0 to 1");
    assert_no_instant(trace, "oom:2", NULL, -ENOENT, "the trace has 1, 'oom:1' is the last");
    assert_no_instant(trace, "peak", "cuda:0", -ENODEV, "there is cpu");
    ml_trace_free(trace);
}

static void the_words_of_at(void **state)
{
    static const struct {
        const char *text;
        struct ml_at at;
    } good[] = {
        {NULL, {.kind = ML_AT_PEAK}},
        {"peak", {.kind = ML_AT_PEAK}},
        {"end", {.kind = ML_AT_END}},
        {"oom", {.kind = ML_AT_OOM, .number = 1}},
        {"oom:3", {.kind = ML_AT_OOM, .number = 3}},
        {"step:0", {.kind = ML_AT_STEP, .number = 0}},
        {"step 12", {.kind = ML_AT_STEP, .number = 12}},
        {"step:12:end", {.kind = ML_AT_STEP_END, .number = 12}},
        {"200ms", {.kind = ML_AT_TIME, .time_ns = 200000000}},
        {"1.5", {.kind = ML_AT_TIME, .time_ns = 1500000000}},
    };
    static const char *const bad[] = {"",         "never", "oom:0",   "oom:x",
                                      "step",     "step:", "step:-1", "step:3:begin",
                                      "5parsecs", "peaks", "step3x",  "ooms"};
    struct ml_at at;

    (void)state;
    for (size_t i = 0; i < ML_ARRAY_SIZE(good); i++) {
        assert_true(ml_at_parse(good[i].text, &at));
        assert_memory_equal(&at, &good[i].at, sizeof(at));
    }
    for (size_t i = 0; i < ML_ARRAY_SIZE(bad); i++)
        assert_false(ml_at_parse(bad[i], &at));
}

static void a_trace_without_modules_is_shown_by_scope(void **state)
{
    struct fixture f = begin();
    uint32_t a = ml_maker_scope(f.maker, 0, MEMLEDGER_SCOPE_USER, ml_maker_string(f.maker, "a"));
    uint32_t b = ml_maker_scope(f.maker, a, MEMLEDGER_SCOPE_USER, ml_maker_string(f.maker, "x"));
    uint32_t c = ml_maker_scope(f.maker, 0, MEMLEDGER_SCOPE_USER, ml_maker_string(f.maker, "x"));
    struct ml_module_tree tree;
    struct ml_trace *trace;

    (void)state;
    in(&f, a, 0x1000, 1);
    in(&f, b, 0x2000, 2);
    in(&f, c, 0x3000, 4);
    trace = fixture_open(&f);
    tree = tree_of(trace, "peak", 0, 0);
    assert_true(tree.from_scopes);
    assert_int_equal(row_of(&tree, "a")->all.bytes, 3);
    assert_int_equal(row_of(&tree, "a > x")->all.bytes, 2);
    assert_int_equal(row_of(&tree, "x")->all.bytes, 4);
    check_rows(&tree);
    ml_module_tree_release(&tree);
    ml_trace_free(trace);
}

/* A label may name its model; else the block's own model wins. */
static void models_of_one_shape_are_kept_apart(void **state)
{
    struct fixture f = begin();
    uint32_t one = module(&f, 0, "GPT", "GPT"), two = module(&f, 0, "GPT#2", "GPT"), back;
    struct ml_module_tree tree;
    struct ml_trace *trace;

    (void)state;
    module(&f, one, "fc", "Linear");
    module(&f, two, "fc", "Linear");
    back = module(&f, phase(&f, "backward"), "GPT#2", "GPT");
    in(&f, 0, 0x1000, 1);
    fixture_label(&f, f.block, 0x1000, "fc.weight", MEMLEDGER_PARAMETER);
    in(&f, 0, 0x2000, 2);
    fixture_label(&f, f.block, 0x2000, "GPT#2.fc.weight", MEMLEDGER_PARAMETER);
    in(&f, back, 0x3000, 4);
    fixture_label(&f, f.block, 0x3000, "fc.weight", MEMLEDGER_GRADIENT);
    trace = fixture_open(&f);
    tree = tree_of(trace, "peak", 0, 0);
    assert_int_equal(row_of(&tree, "GPT > fc")->all.bytes, 1);
    assert_int_equal(row_of(&tree, "GPT#2 > fc")->all.bytes, 6);
    ml_module_tree_release(&tree);
    ml_trace_free(trace);
}

static void labelled(struct fixture *f, uint32_t scope, uint64_t addr, uint64_t size,
                     const char *label, uint64_t category)
{
    in(f, scope, addr, size);
    fixture_label(f, f->block, addr, label, category);
}

/* Arrays bound to an MXNet Module are allocated in the scope of the whole graph. */
static uint32_t begin_graph(struct fixture *f)
{
    uint32_t net = module(f, 0, "softmax", "Module");

    module(f, net, "stage1_unit1_conv1", "Convolution");
    module(f, net, "stage1_unit1", "Convolution");
    module(f, net, "lstm_begin_state_0", "_zeros");
    module(f, net, "lstm_rnn", "RNN");
    return net;
}

static void parameters_of_a_graph_belong_to_its_nodes(void **state)
{
    struct fixture f = begin();
    uint32_t net = begin_graph(&f);
    struct ml_module_tree tree;
    struct ml_trace *trace;

    (void)state;
    fixture_space(&f, ML_MXNET_SPACE_NAME);
    labelled(&f, net, 0x1000, 1, "stage1_unit1_conv1_weight", MEMLEDGER_PARAMETER);
    labelled(&f, net, 0x2000, 2, "stage1_unit1_conv1_weight", MEMLEDGER_GRADIENT);
    labelled(&f, net, 0x3000, 4, "lstm_parameters.mean", MEMLEDGER_OPTIMIZER_STATE);
    labelled(&f, net, 0x4000, 8, "elsewhere_weight", MEMLEDGER_PARAMETER);
    labelled(&f, net, 0x5000, 16, "lstm_parameters", MEMLEDGER_PARAMETER);
    labelled(&f, net, 0x6000, 32, "stage1_unit1_conv1_bias.z_0", MEMLEDGER_OPTIMIZER_STATE);
    trace = fixture_open(&f);
    tree = tree_of(trace, "end", 0, 0);
    assert_int_equal(row_of(&tree, "softmax > stage1_unit1_conv1")->own.bytes, 1 + 2 + 32);
    assert_int_equal(row_of(&tree, "softmax > lstm_rnn")->own.bytes, 4 + 16);
    assert_int_equal(row_of(&tree, "softmax")->own.bytes, 8);
    ml_module_tree_release(&tree);
    ml_trace_free(trace);
}

static void labels_of_older_traces_have_a_prefix(void **state)
{
    struct fixture f = begin();
    uint32_t net = begin_graph(&f);
    struct ml_module_tree tree;
    struct ml_trace *trace;

    (void)state;
    labelled(&f, net, 0x1000, 1, "in_arg:stage1_unit1_conv1_weight", MEMLEDGER_PARAMETER);
    labelled(&f, net, 0x2000, 2, "arg_grad:stage1_unit1_conv1_weight", MEMLEDGER_GRADIENT);
    labelled(&f, net, 0x3000, 4, "optimizer_state:mean:lstm_parameters", MEMLEDGER_OPTIMIZER_STATE);
    labelled(&f, net, 0x4000, 8, "in_arg:elsewhere_weight", MEMLEDGER_PARAMETER);
    labelled(&f, net, 0x5000, 16, "stage1_unit1_conv1_weight", MEMLEDGER_PARAMETER); /* not its */
    trace = fixture_open(&f);
    tree = tree_of(trace, "end", 0, 0);
    assert_int_equal(row_of(&tree, "softmax > stage1_unit1_conv1")->own.bytes, 1 + 2);
    assert_int_equal(row_of(&tree, "softmax > lstm_rnn")->own.bytes, 4);
    assert_int_equal(row_of(&tree, "softmax")->own.bytes, 8 + 16);
    ml_module_tree_release(&tree);
    ml_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_belong_to_modules_by_scope_and_label),
        cmocka_unit_test(recompute_without_its_model_is_the_same_module),
        cmocka_unit_test(optimizer_state_belongs_to_its_parameter),
        cmocka_unit_test(all_reports_add_up_to_what_is_live),
        cmocka_unit_test(layers_come_in_the_order_of_the_model),
        cmocka_unit_test(small_and_deep_modules_are_put_together),
        cmocka_unit_test(groups_are_those_of_the_keys),
        cmocka_unit_test(steps_are_those_of_the_list_of_steps),
        cmocka_unit_test(what_is_not_there_is_told_with_what_is),
        cmocka_unit_test(the_words_of_at),
        cmocka_unit_test(a_trace_without_modules_is_shown_by_scope),
        cmocka_unit_test(models_of_one_shape_are_kept_apart),
        cmocka_unit_test(parameters_of_a_graph_belong_to_its_nodes),
        cmocka_unit_test(labels_of_older_traces_have_a_prefix),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
