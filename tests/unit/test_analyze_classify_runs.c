/* test_analyze_classify_runs.c: classification of what real programs do: calls in
 * calls, exceptions, threads, processes, accumulation, checkpoints, lost events; and
 * what a replay makes of the classes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_analyze_story.h"

#include "scope_path.h"
#include "unknowns.h"

#define OTHER MEMLEDGER_OTHER
#define PARAMETER MEMLEDGER_PARAMETER
#define GRADIENT MEMLEDGER_GRADIENT
#define STATE MEMLEDGER_OPTIMIZER_STATE
#define ACTIVATION MEMLEDGER_ACTIVATION
#define PASSING MEMLEDGER_INTERMEDIATE_GRADIENT
#define INPUT MEMLEDGER_INPUT
#define TEMPORARY MEMLEDGER_TEMPORARY

static void the_innermost_call_counts(void **state)
{
    struct story s = story_begin();
    uint32_t net = story_module(&s, 0, "Net"), layer = story_module(&s, net, "layer");

    (void)state;
    enter(&s, net);
    enter(&s, layer);
    born(&s, 0x1000, 100);
    born(&s, 0x2000, 100);
    dies(&s, 0x2000);
    leave_to(&s, net);
    dies(&s, 0x1000); /* it outlived the layer */
    born(&s, 0x3000, 100);
    dies(&s, 0x3000);
    leave_to(&s, 0);
    assert_categories(&s, ACTIVATION, TEMPORARY, TEMPORARY);
}

static void a_shared_module_has_a_call_each_time(void **state)
{
    struct story s = story_begin();
    uint32_t net = story_module(&s, 0, "Net"), shared = story_module(&s, net, "shared");

    (void)state;
    enter(&s, net);
    enter(&s, shared);
    born(&s, 0x1000, 100);
    leave_to(&s, net);
    enter(&s, shared);
    dies(&s, 0x1000); /* while the same module runs again */
    born(&s, 0x2000, 100);
    dies(&s, 0x2000);
    leave_to(&s, net);
    leave_to(&s, 0);
    assert_categories(&s, ACTIVATION, TEMPORARY);
}

/* The wrapper pops on the way out; the traceback keeps blocks for a while. */
static void an_exception_leaves_all_calls(void **state)
{
    struct story s = story_begin();
    uint32_t net = story_module(&s, 0, "Net"), layer = story_module(&s, net, "layer");

    (void)state;
    enter(&s, net);
    enter(&s, layer);
    born(&s, 0x1000, 100);
    leave_to(&s, net);
    leave_to(&s, 0);
    dies(&s, 0x1000);
    enter(&s, net);
    born(&s, 0x2000, 100);
    dies(&s, 0x2000);
    leave_to(&s, 0);
    assert_categories(&s, ACTIVATION, TEMPORARY);
}

/* What a node takes for itself is no result of it. Operators that it runs are in it. */
static void a_node_may_have_a_workspace(void **state)
{
    struct story s = story_begin();
    uint32_t backward = story_scope(&s, 0, MEMLEDGER_SCOPE_PHASE, "backward");
    uint32_t net = story_module(&s, backward, "Net");
    uint32_t conv = story_scope(&s, net, MEMLEDGER_SCOPE_OPERATOR, "ConvolutionBackward0");
    uint32_t empty = story_scope(&s, conv, MEMLEDGER_SCOPE_OPERATOR, "aten::empty");

    (void)state;
    be_in(&s, net);
    born(&s, 0x1000, 100);
    born(&s, 0x2000, 100);
    dies(&s, 0x1000);
    node(&s);
    dies(&s, 0x2000);
    be_in(&s, empty);
    born(&s, 0x3000, 100);
    be_in(&s, conv);
    dies(&s, 0x3000);
    be_in(&s, 0);
    born(&s, 0x4000, 100);
    be_in(&s, net);
    born(&s, 0x5000, 100);
    be_in(&s, 0);
    dies(&s, 0x5000);
    assert_categories(&s, TEMPORARY, PASSING, TEMPORARY, OTHER, PASSING);
}

/* A program may push the scopes of its backward pass itself: there are no nodes. */
static void pushed_scopes_are_no_nodes(void **state)
{
    struct story s = story_begin();
    uint32_t backward = story_scope(&s, 0, MEMLEDGER_SCOPE_PHASE, "backward");
    uint32_t net = story_module(&s, backward, "Net");

    (void)state;
    enter(&s, backward);
    enter(&s, net);
    born(&s, 0x1000, 100);
    dies(&s, 0x1000);
    leave_to(&s, backward);
    leave_to(&s, 0);
    assert_categories(&s, PASSING);
}

struct trainer {
    struct story s;
    uint32_t net, backward;
    uint64_t addr; /* the last that was given */
};

static struct trainer trainer_begin(void)
{
    struct trainer t = {.s = story_begin()};

    t.net = story_module(&t.s, 0, "Net");
    t.backward = story_scope(&t.s, 0, MEMLEDGER_SCOPE_PHASE, "backward");
    return t;
}

/* One training step that leaves blocks behind: `output` bytes in a module, `gradient` bytes
 * in backward, each at an address of its own; 0: none. */
static void step_that_leaves(struct trainer *t, uint64_t output, uint64_t gradient)
{
    struct story *s = &t->s;

    mark(s, "forward");
    enter(s, t->net);
    if (output)
        born(s, t->addr += 0x10000, output);
    leave_to(s, 0);
    mark(s, "backward");
    be_in(s, t->backward);
    if (gradient)
        born(s, t->addr += 0x10000, gradient);
    be_in(s, 0);
    mark(s, "");
}

/* A workspace of the first pass serves all later ones; an output of a later pass that
 * stays is one that somebody keeps. */
static void what_the_first_pass_leaves_for_all_is_no_activation(void **state)
{
    struct trainer t = trainer_begin();

    (void)state;
    for (uint64_t i = 0; i < 6; i++)
        step_that_leaves(&t, i == 0 ? 1000 : i == 3 ? 100 : 0, i == 0 ? 100 : 0);
    assert_categories(&t.s, OTHER, OTHER, ACTIVATION);
}

/* Batches may differ in size. */
static void what_every_pass_leaves_is_the_same_in_each(void **state)
{
    struct trainer t = trainer_begin();

    (void)state;
    for (uint64_t i = 0; i < 4; i++)
        step_that_leaves(&t, 100 + i * 10, 50);
    assert_categories(&t.s, ACTIVATION, PASSING, ACTIVATION, PASSING, ACTIVATION, PASSING,
                      ACTIVATION, PASSING);
}

/* nn.MSELoss()(…) in the loop: its scope is another each time. */
static void what_modules_made_anew_leave_is_the_same(void **state)
{
    static const char *const names[] = {"Loss", "Loss#2", "Loss#3", "Loss#4"};
    struct trainer t = trainer_begin();

    (void)state;
    for (size_t i = 0; i < ML_ARRAY_SIZE(names); i++) {
        t.net = story_module(&t.s, 0, names[i]);
        step_that_leaves(&t, 100, 0);
    }
    assert_categories(&t.s, ACTIVATION, ACTIVATION, ACTIVATION, ACTIVATION);
}

static void three_steps_are_enough_to_tell(void **state)
{
    struct trainer t = trainer_begin();

    (void)state;
    for (uint64_t i = 0; i < 3; i++)
        step_that_leaves(&t, 100, 0);
    assert_categories(&t.s, ACTIVATION, ACTIVATION, ACTIVATION);
}

static void lost_pushes_and_pops_are_noticed(void **state)
{
    struct story s = story_begin();
    uint32_t net = story_module(&s, 0, "Net"), layer = story_module(&s, net, "layer");

    (void)state;
    enter(&s, net);
    enter(&s, layer);
    born(&s, 0x1000, 100);
    be_in(&s, 0);
    enter(&s, net);   /* two pops were lost */
    dies(&s, 0x1000); /* so the layer has returned */
    be_in(&s, layer); /* a push was lost */
    born(&s, 0x2000, 100);
    dies(&s, 0x2000); /* in a call of which nobody knows */
    leave_to(&s, net);
    born(&s, 0x3000, 100);
    dies(&s, 0x3000); /* net is still open */
    leave_to(&s, 0);
    leave_to(&s, 0); /* a pop without a push */
    assert_categories(&s, ACTIVATION, ACTIVATION, TEMPORARY);
}

static void it_does_not_matter_which_thread_frees(void **state)
{
    struct story s = story_begin();
    uint32_t net = story_module(&s, 0, "Net");

    (void)state;
    ml_maker_thread(s.f.maker, 0, 101, ml_maker_string(s.f.maker, "worker"));
    enter(&s, net);
    born(&s, 0x1000, 100);
    born(&s, 0x2000, 100);
    s.thread = 1;
    enter(&s, net); /* a replica */
    dies(&s, 0x1000);
    leave_to(&s, 0); /* not the call of 0x2000 */
    dies(&s, 0x2000);
    enter(&s, net);
    born(&s, 0x3000, 100);
    story_event(&s, (struct ml_event){.kind = ML_THREAD_END});
    s.thread = 0;
    dies(&s, 0x3000); /* its thread has left */
    leave_to(&s, 0);
    assert_categories(&s, TEMPORARY, TEMPORARY, ACTIVATION);
}

static void marks_are_those_of_the_process(void **state)
{
    struct story s = story_begin();
    uint32_t own = s.space, childs;

    (void)state;
    fixture_process(&s.f, 1, 101, 0, ML_FORKED);
    childs = fixture_space_of(&s.f, 1);
    ml_maker_thread(s.f.maker, 1, 101, ml_maker_string(s.f.maker, "child"));
    ml_maker_thread(s.f.maker, 0, 102, ml_maker_string(s.f.maker, "autograd"));
    mark(&s, "forward");
    born(&s, 0x1000, 100);
    s.thread = 1;
    s.space = childs;
    born(&s, 0x2000, 100); /* forked in the middle of forward: nothing is known */
    dies(&s, 0x1000);      /* the parent's, in the child */
    mark(&s, "backward");
    born(&s, 0x3000, 100);
    s.thread = 0;
    s.space = own;
    born(&s, 0x4000, 100); /* still after forward here */
    dies(&s, 0x4000);
    s.thread = 2;
    mark(&s, "backward"); /* from another thread of the process */
    s.thread = 0;
    dies(&s, 0x1000);
    assert_categories(&s, ACTIVATION, OTHER, PASSING, TEMPORARY);
}

/* One thread trains three steps while another, of a larger model, is between forward and backward.
 */
static void each_thread_has_its_own_passes(void **state)
{
    struct story s = story_begin();
    uint32_t large = story_module(&s, 0, "Large"), small = story_module(&s, 0, "Small");

    (void)state;
    ml_maker_thread(s.f.maker, 0, 101, ml_maker_string(s.f.maker, "worker"));
    enter(&s, large);
    born(&s, 0x1000, 100);
    leave_to(&s, 0);
    s.thread = 1;
    for (uint64_t i = 0; i < 3; i++) {
        mark(&s, "forward");
        enter(&s, small);
        born(&s, 0x2000, 100);
        leave_to(&s, 0);
        mark(&s, "backward");
        dies(&s, 0x2000);
        mark(&s, "");
    }
    s.thread = 0;
    mark(&s, "backward");
    dies(&s, 0x1000);
    assert_categories(&s, ACTIVATION, ACTIVATION, ACTIVATION, ACTIVATION);
}

static void inference_needs_no_backward(void **state)
{
    struct story s = story_begin();
    uint32_t net = story_module(&s, 0, "Net");

    (void)state;
    for (uint64_t call = 0; call < 2; call++) {
        born(&s, 0x1000, 100);
        mark(&s, "forward");
        enter(&s, net);
        name(&s, 0x1000, "input.0", MEMLEDGER_INPUT);
        born(&s, 0x2000, 100);
        born(&s, 0x3000, 100);
        dies(&s, 0x3000);
        leave_to(&s, 0);
        born(&s, 0x4000, 100); /* argmax */
        dies(&s, 0x4000);
        dies(&s, 0x2000);
        dies(&s, 0x1000);
    }
    assert_categories(&s, MEMLEDGER_INPUT, ACTIVATION, TEMPORARY, TEMPORARY, MEMLEDGER_INPUT,
                      ACTIVATION, TEMPORARY, TEMPORARY);
}

static void gradients_accumulate(void **state)
{
    struct story s = story_begin();
    uint32_t net = story_module(&s, 0, "Net");
    uint32_t backward = story_scope(&s, 0, MEMLEDGER_SCOPE_PHASE, "backward");
    uint32_t net_backward = story_module(&s, backward, "Net");

    (void)state;
    for (uint64_t i = 0; i < 2; i++) {
        mark(&s, "forward");
        enter(&s, net);
        born(&s, 0x1000, 100);
        leave_to(&s, 0);
        born(&s, 0x2000, 4); /* the loss */
        mark(&s, "backward");
        be_in(&s, net_backward);
        born(&s, i ? 0x4000 : 0x3000, 50); /* kept at first, then added to it */
        node(&s);
        if (i)
            dies(&s, 0x4000);
        dies(&s, 0x1000);
        be_in(&s, 0);
        mark(&s, "");
        name(&s, 0x3000, "w", GRADIENT); /* after each backward */
        dies(&s, 0x2000);
    }
    assert_categories(&s, ACTIVATION, ACTIVATION, GRADIENT, ACTIVATION, ACTIVATION, PASSING);
}

/* A cycle of references keeps the graph of the first step until the garbage collector runs. */
static void a_graph_is_collected_late(void **state)
{
    struct story s = story_begin();
    uint32_t net = story_module(&s, 0, "Net");

    (void)state;
    for (uint64_t i = 0; i < 4; i++) {
        mark(&s, "forward");
        enter(&s, net);
        born(&s, 0x1000 + i * 0x1000, 100);
        if (i == 0)
            born(&s, 0x10000, 100); /* the state of a library, not freed */
        leave_to(&s, 0);
        mark(&s, "backward");
        if (i > 0)
            dies(&s, 0x1000 + i * 0x1000);
        mark(&s, "");
        if (i == 2)
            dies(&s, 0x1000);
    }
    assert_categories(&s, ACTIVATION, OTHER, ACTIVATION, ACTIVATION, ACTIVATION);
}

static void a_checkpoint_is_computed_again(void **state)
{
    struct story s = story_begin();
    uint32_t user = story_scope(&s, 0, MEMLEDGER_SCOPE_USER, "train");
    uint32_t backward = story_scope(&s, 0, MEMLEDGER_SCOPE_PHASE, "backward");
    uint32_t net = story_module(&s, backward, "Net"), block = story_module(&s, net, "block");
    uint32_t recompute = story_scope(&s, block, MEMLEDGER_SCOPE_PHASE, "recompute");
    uint32_t again = story_module(&s, recompute, "block");
    uint32_t layer = story_module(&s, again, "block.0");

    (void)state;
    enter(&s, user);
    mark(&s, "backward");
    be_in(&s, block); /* a node of the tape: no push */
    born(&s, 0x1000, 100);
    enter(&s, recompute);
    enter(&s, again);
    enter(&s, layer);
    born(&s, 0x2000, 100);
    born(&s, 0x3000, 100);
    dies(&s, 0x3000);
    leave_to(&s, again);
    leave_to(&s, recompute);
    leave_to(&s, block);
    born(&s, 0x4000, 100);
    dies(&s, 0x2000);
    be_in(&s, user);
    mark(&s, "");
    enter(&s, story_module(&s, user, "Net"));
    born(&s, 0x5000, 100);
    dies(&s, 0x5000);
    leave_to(&s, user);
    leave_to(&s, 0);
    assert_categories(&s, PASSING, ACTIVATION, TEMPORARY, PASSING, TEMPORARY);
}

/* L-BFGS calls the model from within its step. */
static void an_optimizer_may_call_the_model(void **state)
{
    struct story s = story_begin();
    uint32_t optimizer = story_scope(&s, 0, MEMLEDGER_SCOPE_PHASE, "optimizer");
    uint32_t net = story_module(&s, optimizer, "Net");

    (void)state;
    mark(&s, "optimizer");
    enter(&s, optimizer);
    enter(&s, net);
    born(&s, 0x1000, 100);
    born(&s, 0x2000, 100);
    dies(&s, 0x2000);
    leave_to(&s, optimizer);
    dies(&s, 0x1000);
    born(&s, 0x3000, 100);
    leave_to(&s, 0);
    mark(&s, "");
    assert_categories(&s, ACTIVATION, TEMPORARY, STATE);
}

static void parts_of_a_block_have_its_class(void **state)
{
    struct story s = story_begin();
    uint32_t net = story_module(&s, 0, "Net");

    (void)state;
    enter(&s, net);
    born(&s, 0x1000, 0x3000);
    story_event(&s, (struct ml_event){.kind = ML_FREE_RANGE, .addr = 0x2000, .size = 0x1000});
    story_event(&s, (struct ml_event){.kind = ML_FREE_RANGE, .addr = 0x1000, .size = 0x1000});
    leave_to(&s, 0);
    story_event(&s, (struct ml_event){.kind = ML_FREE_RANGE, .addr = 0x3000, .size = 0x1000});
    assert_categories(&s, ACTIVATION); /* the last part outlived the call */
}

static void a_resized_block_keeps_its_label(void **state)
{
    struct story s = story_begin();
    uint32_t net = story_module(&s, 0, "Net");
    struct ml_classes classes;
    struct ml_trace *trace;

    (void)state;
    enter(&s, net);
    born(&s, 0x1000, 100);
    name(&s, 0x1000, "w", PARAMETER);
    story_event(&s, (struct ml_event){.kind = ML_MOVE, .addr = 0x1000});
    born(&s, 0x2000, 200);
    story_event(&s, (struct ml_event){.kind = ML_MOVE, .addr = 0x2000});
    story_event(&s, (struct ml_event){.kind = ML_MOVE_FAILED, .addr = 0x2000});
    trace = story_classes(&s, &classes);
    assert_int_equal(classes.categories.items[0], PARAMETER);
    assert_int_equal(classes.categories.items[1], PARAMETER);
    assert_int_equal(classes.labels.len, 2);
    ml_classes_release(&classes);
    ml_trace_free(trace);
}

/* ---- In a replay ------------------------------------------------------- */

static void a_late_label_counts_from_birth(void **state)
{
    struct story s = story_begin();
    uint32_t net = story_module(&s, 0, "Net");
    struct ml_replay replay;
    struct ml_classes classes;
    struct ml_error err = {0};
    struct ml_trace *trace;
    size_t cursor = 0;
    const struct ml_block *block;

    (void)state;
    enter(&s, net);
    born(&s, 0x1000, 100);
    born(&s, 0x2000, 50); /* the peak */
    dies(&s, 0x2000);
    leave_to(&s, 0);
    name(&s, 0x1000, "w", PARAMETER);
    trace = story_classes(&s, &classes);

    assert_int_equal(ml_replay_init(&replay, trace), 0);
    ml_replay_classify(&replay, &classes);
    assert_int_equal(ml_replay_instant(&replay, 3, UINT64_MAX, &err), 0);
    assert_int_equal(replay.events, 3); /* there is nothing to read on for */
    assert_int_equal(replay.categories[PARAMETER].bytes.live_bytes, 100);
    assert_int_equal(replay.categories[PARAMETER].bytes.peak_time_ns, 10);
    assert_int_equal(replay.categories[TEMPORARY].bytes.live_bytes, 50);
    assert_int_equal(replay.categories[OTHER].allocations, 0);
    block = ml_replay_next(&replay, false, &cursor);
    assert_string_equal(ml_trace_string(trace, block->label, NULL), "w");
    block = ml_replay_next(&replay, false, &cursor);
    assert_int_equal(block->label, 0);
    ml_replay_release(&replay);
    ml_classes_release(&classes);
    ml_trace_free(trace);
}

/* ---- Paths ------------------------------------------------------------- */

static void assert_path(struct ml_trace *trace, uint32_t scope, const char *expected)
{
    struct ml_arena arena;

    ml_arena_init(&arena);
    assert_string_equal(ml_scope_path_dup(trace, scope, &arena), expected);
    ml_arena_release(&arena);
}

/* A trace whose scopes an importer made from stacks. */
static struct story story_of_stacks(void)
{
    struct story s = story_begin();

    ml_maker_setting(s.f.maker, ML_SETTING_IMPORT_INFERRED, ML_INFERRED_CATEGORIES);
    return s;
}

/* One pass of a module at this address, with a block that backward leaves. */
static void train(struct story *s, uint64_t addr, uint64_t gradient_bytes)
{
    uint32_t net = story_module(s, 0, "Net");
    uint32_t backward = story_scope(s, 0, MEMLEDGER_SCOPE_PHASE, "backward");

    mark(s, "forward");
    enter(s, net);
    born(s, addr, 700);
    leave_to(s, 0);
    mark(s, "backward");
    enter(s, backward);
    born(s, addr + 0x1000, 700);
    born(s, addr + 0x2000, gradient_bytes);
    dies(s, addr + 0x1000);
    dies(s, addr);
    leave_to(s, 0);
    mark(s, "");
}

static void stacks_show_gradients_by_their_lifetime(void **state)
{
    struct story s = story_of_stacks();

    (void)state;
    train(&s, 0x10000, 100);
    dies(&s, 0x12000);
    train(&s, 0x20000, 100);
    assert_categories(&s, ACTIVATION, PASSING, GRADIENT, ACTIVATION, PASSING, GRADIENT);
}

static void stacks_show_gradients_by_their_size(void **state)
{
    struct story s = story_of_stacks();

    (void)state;
    born(&s, 0x1000, 100);
    name(&s, 0x1000, "", PARAMETER);
    train(&s, 0x10000, 100); /* kept, as with zero_grad(set_to_none=False) */
    train(&s, 0x20000, 900); /* a workspace */
    train(&s, 0x30000, 900);
    assert_categories(&s, PARAMETER, ACTIVATION, PASSING, GRADIENT, ACTIVATION, PASSING, PASSING,
                      ACTIVATION, PASSING, PASSING);
}

static void a_pass_that_goes_on_has_no_gradients_yet(void **state)
{
    struct story s = story_of_stacks();

    (void)state;
    mark(&s, "backward");
    enter(&s, story_scope(&s, 0, MEMLEDGER_SCOPE_PHASE, "backward"));
    born(&s, 0x1000, 100);
    assert_categories(&s, PASSING);
}

static void inputs_serve_one_pass(void **state)
{
    struct story s = story_of_stacks();

    (void)state;
    born(&s, 0x1000, 10); /* no pass uses it */
    name(&s, 0x1000, "", INPUT);
    dies(&s, 0x1000);
    born(&s, 0x1000, 10);
    name(&s, 0x1000, "", INPUT);
    born(&s, 0x2000, 10); /* two passes use it */
    name(&s, 0x2000, "", INPUT);
    train(&s, 0x10000, 100);
    dies(&s, 0x1000);
    train(&s, 0x20000, 100);
    assert_categories(&s, OTHER, INPUT, OTHER, ACTIVATION, PASSING, GRADIENT, ACTIVATION, PASSING,
                      GRADIENT);
}

static void paths_tell_the_innermost_module_and_the_phase(void **state)
{
    struct story s = story_begin();
    uint32_t gpt = story_module(&s, 0, "GPT"), encoder = story_module(&s, gpt, "encoder");
    uint32_t layer = story_module(&s, encoder, "encoder.3");
    uint32_t op = story_scope(&s, layer, MEMLEDGER_SCOPE_OPERATOR, "aten::mm");
    uint32_t other = story_module(&s, encoder, "encoders.3");
    uint32_t backward = story_scope(&s, 0, MEMLEDGER_SCOPE_PHASE, "backward");
    uint32_t gpt_backward = story_module(&s, backward, "GPT");
    uint32_t layer_backward = story_module(&s, gpt_backward, "encoder.3");
    uint32_t user = story_scope(&s, 0, MEMLEDGER_SCOPE_USER, "a");
    uint32_t inner = story_scope(&s, user, MEMLEDGER_SCOPE_USER, "a.b");
    struct ml_trace *trace = fixture_open(&s.f);
    struct ml_scope_names names = ml_scope_names_of(trace, layer_backward);

    (void)state;
    assert_path(trace, gpt, "GPT");
    assert_path(trace, layer, "GPT > encoder.3");
    assert_path(trace, op, "GPT > encoder.3 > aten::mm");
    assert_path(trace, other, "GPT > encoder > encoders.3");
    assert_path(trace, backward, "backward");
    assert_path(trace, layer_backward, "backward: GPT > encoder.3");
    assert_path(trace, inner, "a > a.b");
    assert_string_equal(names.module, "encoder.3");
    assert_string_equal(names.phase, "backward");
    assert_null(ml_scope_names_of(trace, inner).module);
    assert_null(ml_scope_names_of(trace, op).phase);
    ml_trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_innermost_call_counts),
        cmocka_unit_test(a_shared_module_has_a_call_each_time),
        cmocka_unit_test(an_exception_leaves_all_calls),
        cmocka_unit_test(a_node_may_have_a_workspace),
        cmocka_unit_test(pushed_scopes_are_no_nodes),
        cmocka_unit_test(what_the_first_pass_leaves_for_all_is_no_activation),
        cmocka_unit_test(what_every_pass_leaves_is_the_same_in_each),
        cmocka_unit_test(what_modules_made_anew_leave_is_the_same),
        cmocka_unit_test(three_steps_are_enough_to_tell),
        cmocka_unit_test(lost_pushes_and_pops_are_noticed),
        cmocka_unit_test(it_does_not_matter_which_thread_frees),
        cmocka_unit_test(each_thread_has_its_own_passes),
        cmocka_unit_test(marks_are_those_of_the_process),
        cmocka_unit_test(inference_needs_no_backward),
        cmocka_unit_test(gradients_accumulate),
        cmocka_unit_test(a_graph_is_collected_late),
        cmocka_unit_test(a_checkpoint_is_computed_again),
        cmocka_unit_test(an_optimizer_may_call_the_model),
        cmocka_unit_test(parts_of_a_block_have_its_class),
        cmocka_unit_test(a_resized_block_keeps_its_label),
        cmocka_unit_test(a_late_label_counts_from_birth),
        cmocka_unit_test(stacks_show_gradients_by_their_lifetime),
        cmocka_unit_test(stacks_show_gradients_by_their_size),
        cmocka_unit_test(a_pass_that_goes_on_has_no_gradients_yet),
        cmocka_unit_test(inputs_serve_one_pass),
        cmocka_unit_test(paths_tell_the_innermost_module_and_the_phase),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
