/* test_analyze_engine.c: the rules of classify.h for MXNet, whose engine runs operators
 * later than the program asks for them; and what its labels say.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_analyze_story.h"

#include "label_tags.h"

#define OTHER MEMLEDGER_OTHER
#define PARAMETER MEMLEDGER_PARAMETER
#define STATE MEMLEDGER_OPTIMIZER_STATE
#define ACTIVATION MEMLEDGER_ACTIVATION
#define PASSING MEMLEDGER_INTERMEDIATE_GRADIENT
#define TEMPORARY MEMLEDGER_TEMPORARY

struct engine {
    struct story s;
    uint32_t net;                          /* in forward */
    uint32_t forward, backward, optimizer; /* an operator in each */
};

static struct engine engine_begin(void)
{
    struct engine e = {.s = story_begin()};
    struct story *s = &e.s;
    uint32_t forward = story_scope(s, 0, MEMLEDGER_SCOPE_PHASE, "forward");
    uint32_t backward = story_scope(s, 0, MEMLEDGER_SCOPE_PHASE, "backward");
    uint32_t optimizer = story_scope(s, 0, MEMLEDGER_SCOPE_PHASE, "optimizer");

    e.net = story_module(s, forward, "Net");
    e.forward = story_scope(s, e.net, MEMLEDGER_SCOPE_OPERATOR, "dot");
    e.backward = story_scope(s, backward, MEMLEDGER_SCOPE_OPERATOR, "dot_backward");
    e.optimizer = story_scope(s, optimizer, MEMLEDGER_SCOPE_OPERATOR, "sgd_update");
    s->space = fixture_space(&s->f, ML_MXNET_SPACE_NAME);
    return e;
}

/* An operator runs that makes a block. */
static void make(struct engine *e, uint32_t operation, uint64_t addr)
{
    enter(&e->s, operation);
    born(&e->s, addr, 100);
    leave_to(&e->s, 0);
}

/* The program has marked backward and the optimizer before the first operator runs. */
static void what_runs_counts_not_what_was_marked(void **state)
{
    struct engine e = engine_begin();

    (void)state;
    mark(&e.s, "backward");
    mark(&e.s, "optimizer");
    make(&e, e.forward, 0x1000); /* lives to see backward */
    make(&e, e.forward, 0x2000); /* does not */
    dies(&e.s, 0x2000);
    make(&e, e.backward, 0x3000);
    dies(&e.s, 0x1000);
    dies(&e.s, 0x3000);
    make(&e, e.optimizer, 0x4000); /* gone before forward runs again */
    dies(&e.s, 0x4000);
    make(&e, e.optimizer, 0x5000);
    make(&e, e.forward, 0x6000); /* alive at the end */
    dies(&e.s, 0x5000);
    assert_categories(&e.s, ACTIVATION, TEMPORARY, PASSING, TEMPORARY, STATE, ACTIVATION);
}

static void what_an_operator_gives_back_is_temporary(void **state)
{
    struct engine e = engine_begin();

    (void)state;
    enter(&e.s, e.backward);
    born(&e.s, 0x1000, 100);
    dies(&e.s, 0x1000);
    born(&e.s, 0x2000, 100);
    leave_to(&e.s, 0);
    enter(&e.s, e.backward); /* the same operator, once more */
    dies(&e.s, 0x2000);
    leave_to(&e.s, 0);
    assert_categories(&e.s, TEMPORARY, PASSING);
}

/* The engine's turns have numbers of their own, which no call of a module has. */
static void turns_are_no_calls(void **state)
{
    struct engine e = engine_begin();

    (void)state;
    for (int i = 0; i < 1000; i++) {
        enter(&e.s, e.forward);
        leave_to(&e.s, 0);
    }
    make(&e, e.optimizer, 0x1000);
    dies(&e.s, 0x1000);
    assert_categories(&e.s, TEMPORARY);
}

static void a_name_alone_does_not_replace_a_category(void **state)
{
    struct engine e = engine_begin();
    struct ml_classes classes;
    struct ml_trace *trace;

    (void)state;
    make(&e, e.forward, 0x1000);
    name(&e.s, 0x1000, "in_arg:0a1b_weight", OTHER);
    name(&e.s, 0x1000, "in_arg:0.weight", PARAMETER);
    name(&e.s, 0x1000, "resource:0a1b_weight", OTHER);
    dies(&e.s, 0x1000);
    make(&e, e.forward, 0x2000);
    name(&e.s, 0x2000, "dot", OTHER);
    name(&e.s, 0x2000, "<unk>:resource:temp_space", OTHER);
    trace = story_classes(&e.s, &classes);
    assert_int_equal(classes.labels.len, 2);
    assert_string_equal(ml_trace_string(trace, classes.labels.items[0].label, NULL),
                        "in_arg:0.weight");
    assert_int_equal(classes.categories.items[0], PARAMETER);
    assert_string_equal(ml_trace_string(trace, classes.labels.items[1].label, NULL),
                        "<unk>:resource:temp_space");
    assert_int_equal(classes.categories.items[1], TEMPORARY);
    ml_classes_release(&classes);
    ml_trace_free(trace);
}

static void what_an_operator_keeps_is_its_workspace(void **state)
{
    struct engine e = engine_begin();

    (void)state;
    make(&e, e.forward, 0x1000); /* the operator's own */
    make(&e, e.forward, 0x2000);
    name(&e.s, 0x2000, "dot", OTHER); /* a result, which the program keeps */
    make(&e, e.backward, 0x3000);
    make(&e, e.forward, 0x4000);
    make(&e, e.backward, 0x5000);
    assert_categories(&e.s, TEMPORARY, OTHER, PASSING, ACTIVATION, PASSING);
}

/* The same from pass to pass: results that the program keeps of each. */
/* A program that only predicts; the result of the second node reuses memory of another. */
static void what_only_predictions_keep_is_workspace(void **state)
{
    struct engine e = engine_begin();
    uint32_t first = story_module(&e.s, 0, "fc1"), second = story_module(&e.s, 0, "fc2");
    uint32_t first_op = story_scope(&e.s, first, MEMLEDGER_SCOPE_OPERATOR, "FullyConnected");
    uint32_t second_op = story_scope(&e.s, second, MEMLEDGER_SCOPE_OPERATOR, "FullyConnected");

    (void)state;
    make(&e, first_op, 0x1000); /* a reordered weight */
    make(&e, first_op, 0x2000);
    name(&e.s, 0x2000, "fc1_oedge0", ACTIVATION);
    make(&e, second_op, 0x3000); /* a reordered weight */
    make(&e, e.forward, 0x4000); /* of another graph, whose results have no names */
    assert_categories(&e.s, TEMPORARY, ACTIVATION, TEMPORARY, ACTIVATION);
}

static void what_every_pass_leaves_is_an_activation(void **state)
{
    struct engine e = engine_begin();

    (void)state;
    for (uint64_t i = 1; i <= 3; i++) {
        make(&e, e.forward, i << 16);
        name(&e.s, i << 16, "dot", OTHER);
        enter(&e.s, e.backward);
        leave_to(&e.s, 0);
    }
    assert_categories(&e.s, ACTIVATION, ACTIVATION, ACTIVATION);
}

/* Arrays bound to an executor are allocated in its scope, outside all operators; what operators
 * made there is not an input of another. */
static void memory_of_a_graph_may_be_an_input(void **state)
{
    struct engine e = engine_begin();

    (void)state;
    make(&e, e.net, 0x1000);
    name(&e.s, 0x1000, "data", MEMLEDGER_INPUT);
    make(&e, e.forward, 0x2000);
    name(&e.s, 0x2000, "pred", MEMLEDGER_INPUT);
    make(&e, e.backward, 0x3000);
    assert_categories(&e.s, MEMLEDGER_INPUT, ACTIVATION, PASSING);
}

static void names_that_repeat_scopes_are_none(void **state)
{
    struct engine e = engine_begin();
    struct ml_classes classes;
    struct ml_trace *trace;

    (void)state;
    make(&e, e.forward, 0x1000);
    name(&e.s, 0x1000, "dot", OTHER);
    make(&e, e.forward, 0x2000);
    name(&e.s, 0x2000, "data_entry:node_7_oedge0", ACTIVATION);
    make(&e, e.backward, 0x3000);
    name(&e.s, 0x3000, "node_7_backward", OTHER);
    make(&e, e.backward, 0x4000); /* memory that both passes share */
    name(&e.s, 0x4000, "data_entry:fc1_oedge0", ACTIVATION);
    make(&e, e.forward, 0x5000);
    name(&e.s, 0x5000, "node_of_mine", OTHER);
    make(&e, e.forward, 0x6000);
    name(&e.s, 0x6000, "node_7_oedge0", ACTIVATION);
    make(&e, e.backward, 0x7000); /* the first gradient of a pass has no other name */
    name(&e.s, 0x7000, "node_7_head_grad", PASSING);
    make(&e, e.forward, 0x8000); /* a program may call its parameters so */
    name(&e.s, 0x8000, "node_7_weight", PARAMETER);
    trace = story_classes(&e.s, &classes);
    assert_int_equal(classes.labels.len, 3);
    assert_int_equal(classes.labels.items[0].ordinal, 4);
    assert_int_equal(classes.labels.items[1].ordinal, 6);
    assert_int_equal(classes.labels.items[2].ordinal, 7);
    assert_int_equal(classes.categories.items[1], ACTIVATION);
    assert_int_equal(classes.categories.items[2], PASSING);
    assert_int_equal(classes.categories.items[3], PASSING);
    ml_classes_release(&classes);
    ml_trace_free(trace);
}

static void words_say_categories(void **state)
{
    static const struct {
        const char *label;
        uint8_t category;
    } cases[] = {
        {"data_entry:fc1_fwd_oedge0", ACTIVATION},
        {"head_grad:data_entry:fc1_fwd_oedge0", PASSING},
        {"workspace:conv.cc+1", TEMPORARY},
        {"resource:temp_space (sample_op.h +378)", TEMPORARY},
        {"updater:optimizer_state:_zeros", STATE},
        {"arg_grad:fc1_weight", MEMLEDGER_GRADIENT},
        {"aux_state:bn_moving_mean", MEMLEDGER_BUFFER},
        {"in_arg:data", OTHER},
        {"dot", OTHER},
        {"resource", OTHER},
        {"", OTHER},
        {"::", OTHER},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        assert_int_equal(ml_label_tag(cases[i].label, strlen(cases[i].label)), cases[i].category);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_runs_counts_not_what_was_marked),
        cmocka_unit_test(what_an_operator_gives_back_is_temporary),
        cmocka_unit_test(turns_are_no_calls),
        cmocka_unit_test(a_name_alone_does_not_replace_a_category),
        cmocka_unit_test(what_an_operator_keeps_is_its_workspace),
        cmocka_unit_test(what_only_predictions_keep_is_workspace),
        cmocka_unit_test(what_every_pass_leaves_is_an_activation),
        cmocka_unit_test(memory_of_a_graph_may_be_an_input),
        cmocka_unit_test(names_that_repeat_scopes_are_none),
        cmocka_unit_test(words_say_categories),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
