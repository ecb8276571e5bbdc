/* test_analyze_classify.c: the rules of classify.h, one after the other.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "test_analyze_story.h"

#define OTHER MEMLEDGER_OTHER
#define PARAMETER MEMLEDGER_PARAMETER
#define GRADIENT MEMLEDGER_GRADIENT
#define STATE MEMLEDGER_OPTIMIZER_STATE
#define ACTIVATION MEMLEDGER_ACTIVATION
#define PASSING MEMLEDGER_INTERMEDIATE_GRADIENT
#define INPUT MEMLEDGER_INPUT
#define TEMPORARY MEMLEDGER_TEMPORARY
#define COMMUNICATION MEMLEDGER_COMMUNICATION

static void a_program_without_modules_and_phases_has_no_classes(void **state)
{
    struct story s = story_begin();
    struct ml_classes classes;
    struct ml_trace *trace;

    (void)state;
    enter(&s, story_scope(&s, 0, MEMLEDGER_SCOPE_USER, "forward")); /* a name, no phase */
    born(&s, 0x1000, 100);
    name(&s, 0x1000, "w", PARAMETER);
    step(&s, 1);
    trace = story_classes(&s, &classes);
    assert_false(classes.known);
    assert_int_equal(classes.categories.len, 0);
    assert_int_equal(classes.labels.len, 0);
    ml_classes_release(&classes);
    ml_trace_free(trace);
}

static void a_label_wins_whenever_it_comes(void **state)
{
    struct story s = story_begin();
    uint32_t net = story_module(&s, 0, "Net");

    (void)state;
    born(&s, 0x1000, 100);
    enter(&s, net);
    born(&s, 0x2000, 100);
    born(&s, 0x3000, 100);
    leave_to(&s, 0);
    name(&s, 0x1000, "w", PARAMETER);
    name(&s, 0x2000, "w", GRADIENT);
    name(&s, 0x2000, "m", STATE);    /* a later one replaces it */
    name(&s, 0x3000, "mine", OTHER); /* a name alone */
    dies(&s, 0x2000);
    assert_categories(&s, PARAMETER, STATE, ACTIVATION);
}

static void labels_belong_to_one_life(void **state)
{
    struct story s = story_begin();
    struct ml_classes classes;
    struct ml_trace *trace;

    (void)state;
    enter(&s, story_module(&s, 0, "Net"));
    born(&s, 0x1000, 100);
    dies(&s, 0x1000);
    born(&s, 0x1000, 100);
    born(&s, 0x2000, 100);
    name(&s, 0x2000, "b", PARAMETER); /* not in the order of birth */
    name(&s, 0x1000, "a", PARAMETER);
    trace = story_classes(&s, &classes);
    assert_int_equal(classes.labels.len, 2);
    assert_int_equal(classes.labels.items[0].ordinal, 1);
    assert_string_equal(ml_trace_string(trace, classes.labels.items[0].label, NULL), "a");
    assert_int_equal(classes.labels.items[1].ordinal, 2);
    assert_int_equal(classes.categories.items[0], TEMPORARY);
    assert_int_equal(classes.categories.items[1], PARAMETER);
    ml_classes_release(&classes);
    ml_trace_free(trace);
}

static void an_input_is_born_outside(void **state)
{
    struct story s = story_begin();
    uint32_t net = story_module(&s, 0, "Net");
    uint32_t backward = story_scope(&s, 0, MEMLEDGER_SCOPE_PHASE, "backward");
    uint32_t optimizer = story_scope(&s, 0, MEMLEDGER_SCOPE_PHASE, "optimizer");

    (void)state;
    born(&s, 0x1000, 100);
    mark(&s, "forward");
    born(&s, 0x2000, 100); /* of the second call */
    enter(&s, net);
    born(&s, 0x3000, 100); /* an activation, passed to another module */
    leave_to(&s, 0);
    be_in(&s, backward);
    born(&s, 0x4000, 100);
    be_in(&s, 0);
    enter(&s, optimizer);
    born(&s, 0x5000, 100);
    leave_to(&s, 0);
    born(&s, 0x6000, 100);
    for (uint64_t addr = 0x1000; addr <= 0x5000; addr += 0x1000)
        name(&s, addr, "input.0", INPUT);
    name(&s, 0x6000, "w", PARAMETER);
    name(&s, 0x6000, "input.0", INPUT); /* weak */
    assert_categories(&s, INPUT, INPUT, ACTIVATION, PASSING, STATE, PARAMETER);
}

static void a_weak_label_that_does_not_count_leaves_no_name(void **state)
{
    struct story s = story_begin();
    struct ml_classes classes;
    struct ml_trace *trace;

    (void)state;
    enter(&s, story_module(&s, 0, "Net"));
    born(&s, 0x1000, 100);
    name(&s, 0x1000, "input.0", INPUT);
    trace = story_classes(&s, &classes);
    assert_int_equal(classes.labels.len, 0);
    ml_classes_release(&classes);
    ml_trace_free(trace);
}

static void backward_makes_intermediate_gradients(void **state)
{
    struct story s = story_begin();
    uint32_t backward = story_scope(&s, 0, MEMLEDGER_SCOPE_PHASE, "backward");
    uint32_t net = story_module(&s, backward, "Net");
    uint32_t op = story_scope(&s, backward, MEMLEDGER_SCOPE_OPERATOR, "MulBackward0");
    struct ml_classes classes;
    struct ml_trace *trace;

    (void)state;
    be_in(&s, net);
    born(&s, 0x1000, 100);
    node(&s);
    dies(&s, 0x1000);
    be_in(&s, op);
    born(&s, 0x2000, 10); /* nothing to name it by */
    born(&s, 0x3000, 20);
    be_in(&s, 0);
    name(&s, 0x3000, "w", GRADIENT);
    name(&s, 0x3000, "w", GRADIENT); /* counted once */
    mark(&s, "backward");
    born(&s, 0x4000, 3); /* by the mark */
    mark(&s, "");
    born(&s, 0x5000, 1000);
    trace = story_classes(&s, &classes);
    assert_int_equal(classes.categories.items[0], PASSING);
    assert_int_equal(classes.categories.items[1], PASSING);
    assert_int_equal(classes.categories.items[2], GRADIENT);
    assert_int_equal(classes.categories.items[3], PASSING);
    assert_int_equal(classes.categories.items[4], OTHER);
    assert_int_equal(classes.backward_bytes, 133);
    assert_int_equal(classes.backward_named_bytes, 120);
    ml_classes_release(&classes);
    ml_trace_free(trace);
}

/* Gloo copies what it sends; no scope says for whom. */
static void a_thread_of_collectives_communicates(void **state)
{
    struct story s = story_begin();

    (void)state;
    ml_maker_thread(s.f.maker, 0, 101, ml_maker_string(s.f.maker, "pt_gloo_runloop"));
    enter(&s, story_module(&s, 0, "Net"));
    leave_to(&s, 0);
    mark(&s, "backward");
    born(&s, 0x1000, 100);
    s.thread = 1;
    born(&s, 0x2000, 100);
    dies(&s, 0x2000);
    mark(&s, "");
    born(&s, 0x3000, 100);
    assert_categories(&s, PASSING, COMMUNICATION, COMMUNICATION);
}

static void what_survives_the_optimizer_is_its_state(void **state)
{
    struct story s = story_begin();
    uint32_t optimizer = story_scope(&s, 0, MEMLEDGER_SCOPE_PHASE, "optimizer");
    uint32_t adam = story_scope(&s, optimizer, MEMLEDGER_SCOPE_USER, "AdamW");

    (void)state;
    enter(&s, optimizer);
    enter(&s, adam);
    born(&s, 0x1000, 100);
    born(&s, 0x2000, 100);
    dies(&s, 0x2000);
    born(&s, 0x3000, 100);
    leave_to(&s, optimizer);
    dies(&s, 0x3000); /* the phase is not over */
    leave_to(&s, 0);
    enter(&s, optimizer);
    dies(&s, 0x1000); /* in another step than its own */
    leave_to(&s, 0);
    assert_categories(&s, STATE, TEMPORARY, TEMPORARY);
}

/* As PyTorch does: labels for its state after each step. A recording may end inside a step. */
static void state_that_has_labels_is_known_within_a_step(void **state)
{
    struct story s = story_begin();
    uint32_t optimizer = story_scope(&s, 0, MEMLEDGER_SCOPE_PHASE, "optimizer");

    (void)state;
    enter(&s, optimizer);
    born(&s, 0x1000, 100);
    leave_to(&s, 0);
    name(&s, 0x1000, "w.exp_avg", STATE);
    mark(&s, "forward");
    enter(&s, optimizer);
    born(&s, 0x2000, 100); /* without a label, but kept */
    leave_to(&s, 0);
    mark(&s, "forward");
    dies(&s, 0x2000);
    enter(&s, optimizer);
    born(&s, 0x3000, 100);
    leave_to(&s, 0); /* with an error, whose traceback has a reference */
    dies(&s, 0x3000);
    mark(&s, "forward");
    enter(&s, optimizer);
    born(&s, 0x4000, 100);
    assert_categories(&s, STATE, STATE, TEMPORARY, TEMPORARY);
}

static void the_mark_of_the_optimizer_is_enough(void **state)
{
    struct story s = story_begin();

    (void)state;
    mark(&s, "optimizer");
    born(&s, 0x1000, 100);
    born(&s, 0x2000, 100);
    dies(&s, 0x2000);
    mark(&s, "");
    dies(&s, 0x1000);
    mark(&s, "optimizer");
    born(&s, 0x3000, 100); /* alive when all ends */
    assert_categories(&s, STATE, TEMPORARY, STATE);
}

static void a_module_keeps_activations(void **state)
{
    struct story s = story_begin();
    uint32_t net = story_module(&s, 0, "Net");
    uint32_t op = story_scope(&s, net, MEMLEDGER_SCOPE_OPERATOR, "aten::mm");

    (void)state;
    enter(&s, net);
    born(&s, 0x1000, 100);
    enter(&s, op);
    born(&s, 0x2000, 100);
    born(&s, 0x3000, 100);
    leave_to(&s, net);
    dies(&s, 0x3000); /* after the operator, within the module */
    leave_to(&s, 0);
    dies(&s, 0x1000);
    assert_categories(&s, ACTIVATION, ACTIVATION, TEMPORARY);
}

static void after_forward_it_matters_who_lives_to_see_backward(void **state)
{
    struct story s = story_begin();

    (void)state;
    born(&s, 0x1000, 100);
    mark(&s, "forward");
    born(&s, 0x2000, 100); /* the loss */
    born(&s, 0x3000, 100);
    dies(&s, 0x3000);
    mark(&s, "forward"); /* again */
    mark(&s, "backward");
    dies(&s, 0x2000);
    mark(&s, "");
    born(&s, 0x4000, 100);
    mark(&s, "forward");
    born(&s, 0x5000, 100); /* no backward follows */
    mark(&s, "optimizer");
    mark(&s, "");
    assert_categories(&s, OTHER, ACTIVATION, TEMPORARY, OTHER, TEMPORARY);
}

/* A replay buffer, a batch, a loss, scratch memory. */
static void a_function_keeps_data(void **state)
{
    struct story s = story_begin();
    uint32_t train = ml_maker_class_scope(s.f.maker, 0, MEMLEDGER_SCOPE_MODULE,
                                          ml_maker_string(s.f.maker, "train"),
                                          ml_maker_string(s.f.maker, ML_FUNCTION_CLASS));

    (void)state;
    s.scopes[s.thread] = train;
    born(&s, 0x1000, 100); /* data for all passes */
    born(&s, 0x2000, 100);
    dies(&s, 0x2000);
    born(&s, 0x3000, 100); /* a batch */
    mark(&s, "forward");
    born(&s, 0x4000, 100); /* kept for later passes */
    born(&s, 0x5000, 100); /* the loss */
    born(&s, 0x6000, 100);
    dies(&s, 0x6000);
    mark(&s, "backward");
    dies(&s, 0x5000);
    mark(&s, "");
    dies(&s, 0x3000);
    mark(&s, "forward");
    mark(&s, "backward");
    mark(&s, "");
    dies(&s, 0x4000);
    assert_categories(&s, INPUT, TEMPORARY, INPUT, INPUT, ACTIVATION, TEMPORARY);
}

/* Without modules nothing marks forward. */
static void a_function_makes_a_graph(void **state)
{
    struct story s = story_begin();
    uint32_t net = ml_maker_class_scope(s.f.maker, 0, MEMLEDGER_SCOPE_MODULE,
                                        ml_maker_string(s.f.maker, "net"),
                                        ml_maker_string(s.f.maker, ML_FUNCTION_CLASS));

    (void)state;
    s.scopes[s.thread] = net;
    born(&s, 0x1000, 100); /* a weight */
    mark(&s, "backward");
    mark(&s, "");
    born(&s, 0x2000, 100);
    mark(&s, "backward");
    dies(&s, 0x2000);
    mark(&s, "");
    assert_categories(&s, INPUT, ACTIVATION);
}

static void heaps_and_pools_have_only_labels(void **state)
{
    struct story s = story_begin();
    uint32_t net = story_module(&s, 0, "Net");
    uint32_t heap = fixture_space(&s.f, ML_HEAP_SPACE_NAME);
    uint32_t map = fixture_space(&s.f, ML_MAP_SPACE_NAME);

    (void)state;
    fixture_nest(&s.f);
    enter(&s, net);
    s.space = heap;
    born(&s, 0x10000, 100);
    born(&s, 0x20000, 100);
    name(&s, 0x20000, "w", PARAMETER);
    s.space = map;
    born(&s, 0x30000, 100);
    s.space = s.f.pool;
    born(&s, 0x40000, 100);
    s.space = s.f.driver;
    born(&s, 0x50000, 100);
    assert_categories(&s, OTHER, PARAMETER, OTHER, OTHER, OTHER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_without_modules_and_phases_has_no_classes),
        cmocka_unit_test(a_label_wins_whenever_it_comes),
        cmocka_unit_test(labels_belong_to_one_life),
        cmocka_unit_test(an_input_is_born_outside),
        cmocka_unit_test(a_weak_label_that_does_not_count_leaves_no_name),
        cmocka_unit_test(backward_makes_intermediate_gradients),
        cmocka_unit_test(a_thread_of_collectives_communicates),
        cmocka_unit_test(what_survives_the_optimizer_is_its_state),
        cmocka_unit_test(state_that_has_labels_is_known_within_a_step),
        cmocka_unit_test(the_mark_of_the_optimizer_is_enough),
        cmocka_unit_test(a_module_keeps_activations),
        cmocka_unit_test(after_forward_it_matters_who_lives_to_see_backward),
        cmocka_unit_test(a_function_keeps_data),
        cmocka_unit_test(a_function_makes_a_graph),
        cmocka_unit_test(heaps_and_pools_have_only_labels),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
