/* test_source_scopes.c: the scope that a thread is in: pushes, pops, and the tapes
 * that lead it elsewhere.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "block.h"
#include "memledger/memledger.h"
#include "source_scopes.h"

#define USER MEMLEDGER_SCOPE_USER
#define MODULE MEMLEDGER_SCOPE_MODULE
#define OPERATOR MEMLEDGER_SCOPE_OPERATOR
#define PHASE MEMLEDGER_SCOPE_PHASE
#define NVTX MEMLEDGER_SCOPE_NVTX

/* One thread of a target whose strings have the trace's numbers. */
struct thread {
    struct ml_dict dict;
    struct ml_target target;
    struct ml_source source;
    uint64_t words[16];
    uint32_t event_scope; /* of the last pop */
};

static int setup(void **state)
{
    struct thread *t = calloc(1, sizeof(*t));

    assert_non_null(t);
    assert_int_equal(ml_dict_init(&t->dict), 0);
    t->source = (struct ml_source){.target = &t->target, .record = t->words, .words = 4};
    *state = t;
    return 0;
}

static int teardown(void **state)
{
    struct thread *t = *state;

    assert_int_equal(t->dict.error, 0);
    ml_vec_release(&t->source.left);
    ml_vec_release(&t->target.strings);
    ml_tapes_release(&t->target.tapes);
    ml_backward_release(&t->target.backward);
    ml_works_release(&t->target.works);
    ml_outputs_release(&t->target.waiting);
    ml_dict_release(&t->dict);
    free(t);
    return 0;
}

static uint32_t string(struct thread *t, const char *text)
{
    uint32_t number = ml_dict_cstr(&t->dict, text);

    while (t->target.strings.len <= number)
        assert_int_equal(ml_vec_push(&t->target.strings, (uint32_t)t->target.strings.len), 0);
    return number;
}

static bool push_class(struct thread *t, uint32_t kind, const char *name, const char *class_name)
{
    t->words[1] = ml_pair(kind | string(t, class_name) << 8, string(t, name));
    return ml_source_push(&t->dict, &t->source);
}

static bool push(struct thread *t, uint32_t kind, const char *name)
{
    return push_class(t, kind, name, "");
}

static bool pop(struct thread *t)
{
    return ml_source_pop(&t->dict, &t->source, &t->event_scope);
}

static void made(struct thread *t, uint64_t tape, uint64_t first, uint64_t end)
{
    memcpy(&t->words[1], (uint64_t[]){tape, first, end}, 24);
    ml_source_take_tape(&t->source);
}

static void push_tape_with(struct thread *t, uint64_t tape, uint64_t number, uint32_t flags,
                           const char *operator_name)
{
    memcpy(&t->words[1], (uint64_t[]){tape, number, ml_pair(flags, string(t, operator_name))}, 24);
    ml_source_push_tape(&t->dict, &t->source);
}

static void push_tape(struct thread *t, uint64_t tape, uint64_t number)
{
    push_tape_with(t, tape, number, 0, "op");
}

static void enter_function(struct thread *t, const char *name)
{
    t->words[1] = string(t, name);
    ml_source_enter_function(&t->dict, &t->source);
}

static void write_path(const struct thread *t, uint32_t scope, char *text, size_t room)
{
    static const char letters[] = "umopn";
    struct ml_dict_scope s = ml_dict_scope_at(&t->dict, scope);
    size_t len;

    if (!scope)
        return;
    write_path(t, s.parent, text, room);
    len = strlen(text);
    snprintf(text + len, room - len, "%s%c:%s%s%s", s.parent ? " > " : "", letters[s.kind],
             ml_dict_text(&t->dict, s.name), s.class_name ? "/" : "",
             ml_dict_text(&t->dict, s.class_name));
}

/* "p:backward > m:GPT/Model": kind, name and class of each scope. */
static void assert_at(const struct thread *t, const char *want)
{
    char text[256] = "";

    write_path(t, t->source.place.scope, text, sizeof(text));
    assert_string_equal(text, want);
}

static void leave(struct thread *t)
{
    ml_source_leave_scopes(&t->source);
}

static void classes_tell_scopes_apart(void **state)
{
    struct thread *t = *state;
    uint32_t first;

    assert_true(push_class(t, MODULE, "fc", "Linear"));
    first = t->source.place.scope;
    assert_at(t, "m:fc/Linear");
    assert_true(pop(t));
    assert_true(push_class(t, MODULE, "fc", "Conv2d"));
    assert_int_not_equal(t->source.place.scope, first);
    assert_true(pop(t));
    assert_true(push(t, MODULE, "fc"));
    assert_at(t, "m:fc");
    assert_true(pop(t));
    assert_true(push_class(t, MODULE, "fc", "Linear"));
    assert_int_equal(t->source.place.scope, first);
}

static void pops_too_many_do_nothing(void **state)
{
    struct thread *t = *state;

    assert_false(pop(t));
    push(t, USER, "a");
    assert_true(pop(t));
    assert_false(pop(t));
    push_tape(t, 1, 1);
    assert_false(pop(t));
    assert_false(pop(t));
    assert_at(t, "");
    assert_int_equal(t->source.place.depth, 0);
    assert_true(push(t, USER, "a"));
    assert_at(t, "u:a");
}

/* What was made in block is undone in it, whatever the thread that does it is in. */
static void tape_leads_to_where_it_was_made(void **state)
{
    struct thread *t = *state;

    push(t, USER, "train");
    push_class(t, MODULE, "GPT", "GPT");
    made(t, 7, 10, 15);
    push_class(t, MODULE, "block", "Block");
    made(t, 7, 15, 20);
    leave(t);
    push(t, USER, "elsewhere");
    push_tape(t, 7, 19);
    assert_at(t, "p:backward > u:train > m:GPT/GPT > m:block/Block");
    assert_false(pop(t));
    assert_at(t, "u:elsewhere");
    push_tape(t, 7, 15);
    assert_at(t, "p:backward > u:train > m:GPT/GPT > m:block/Block");
    pop(t);
    push_tape(t, 7, 10);
    assert_at(t, "p:backward > u:train > m:GPT/GPT");
    pop(t);
    assert_true(pop(t));
    assert_at(t, "");
}

static void operator_names_what_no_module_does(void **state)
{
    struct thread *t = *state;

    push(t, USER, "loss");
    made(t, 7, 1, 2);
    leave(t);
    made(t, 7, 2, 3);
    push_tape_with(t, 7, 1, 0, "MulBackward0");
    assert_at(t, "p:backward > u:loss > o:MulBackward0");
    pop(t);
    push_tape_with(t, 7, 2, 0, "MulBackward0"); /* made in no scope */
    assert_at(t, "p:backward > o:MulBackward0");
    pop(t);
    push_tape_with(t, 7, 3, 0, "MulBackward0"); /* a number that nobody told of */
    assert_at(t, "p:backward > o:MulBackward0");
    pop(t);
    push_tape_with(t, 8, 1, 0, ""); /* a tape that nobody told of, a name neither */
    assert_at(t, "p:backward");
    pop(t);
    push(t, MODULE, "fc");
    made(t, 7, 3, 4);
    push_tape_with(t, 7, 3, ML_TAPE_OPERATOR, "MulBackward0");
    assert_at(t, "p:backward > m:fc > o:MulBackward0");
}

static void pushes_inside_a_tape_balance(void **state)
{
    struct thread *t = *state;

    push(t, MODULE, "fc");
    made(t, 7, 1, 2);
    push_tape(t, 7, 1);
    assert_true(push(t, OPERATOR, "addmm"));
    assert_at(t, "p:backward > m:fc > o:addmm");
    push_tape(t, 9, 1); /* a backward pass inside of one */
    assert_at(t, "p:backward > o:op");
    assert_true(push(t, USER, "inner"));
    assert_at(t, "p:backward > o:op > u:inner");
    assert_true(pop(t));
    assert_at(t, "p:backward > o:op");
    assert_false(pop(t));
    assert_at(t, "p:backward > m:fc > o:addmm");
    assert_true(pop(t));
    assert_at(t, "p:backward > m:fc");
    assert_false(pop(t));
    assert_at(t, "m:fc");
    assert_true(pop(t));
    assert_false(pop(t));
}

/* Activation checkpointing runs modules again in the backward pass and makes nodes
 * there: "backward" must not pile up, nor the operators of the first pass back. */
static void recomputed_nodes_lie_beside_the_first(void **state)
{
    struct thread *t = *state;

    push(t, MODULE, "GPT");
    made(t, 7, 1, 2);
    leave(t);
    push_tape_with(t, 7, 1, ML_TAPE_OPERATOR, "CheckpointFunctionBackward");
    push(t, PHASE, "recompute");
    push(t, OPERATOR, "custom");
    push(t, NVTX, "range");
    push(t, MODULE, "block");
    assert_at(t, "p:backward > m:GPT > o:CheckpointFunctionBackward > p:recompute > o:custom > "
                 "n:range > m:block");
    made(t, 8, 1, 2);
    push_tape(t, 8, 1);
    assert_at(t, "p:backward > m:GPT > o:custom > n:range > m:block");
    made(t, 8, 2, 3); /* by a pass back through the pass back */
    push_tape(t, 8, 2);
    assert_at(t, "p:backward > m:GPT > n:range > m:block");
}

static void too_deep_is_ignored_with_its_pop(void **state)
{
    struct thread *t = *state;
    uint32_t deepest;

    for (uint32_t i = 0; i < ML_SCOPE_MAX_DEPTH; i++)
        assert_true(push(t, MODULE, "m"));
    made(t, 7, 1, 2);
    deepest = t->source.place.scope;
    assert_false(push(t, USER, "beyond"));
    push_tape_with(t, 7, 1, ML_TAPE_OPERATOR, "op"); /* its path is as deep as can be */
    assert_int_equal(t->source.place.depth, ML_SCOPE_MAX_DEPTH);
    assert_false(push(t, USER, "beyond"));
    assert_false(pop(t)); /* of beyond */
    assert_false(pop(t)); /* of the tape */
    assert_false(pop(t)); /* of the first beyond */
    assert_int_equal(t->source.place.scope, deepest);
    assert_true(pop(t));
    assert_int_equal(t->source.place.depth, ML_SCOPE_MAX_DEPTH - 1);
}

static void tapes_nest_so_deep_only(void **state)
{
    struct thread *t = *state;

    push(t, MODULE, "m");
    for (uint32_t i = 0; i < ML_SCOPE_MAX_DEPTH + 10; i++)
        push_tape(t, 7, 1);
    assert_false(push(t, USER, "u"));
    assert_false(pop(t));
    for (uint32_t i = 0; i < ML_SCOPE_MAX_DEPTH + 10; i++) {
        assert_at(t, "p:backward > o:op");
        assert_false(pop(t));
    }
    assert_at(t, "m:m");
}

static void hand(struct thread *t, uint64_t key, const char *operator_name)
{
    memcpy(&t->words[1], (uint64_t[]){key, ml_pair(0, string(t, operator_name))}, 16);
    ml_source_hand_work(&t->source);
}

static bool push_work(struct thread *t, uint64_t key, const char *operator_name)
{
    memcpy(&t->words[1], (uint64_t[]){key, ml_pair(0, string(t, operator_name))}, 16);
    return ml_source_push_work(&t->dict, &t->source);
}

/* The thread is back where it was with one pop, whose event says that the operator is left. */
static void work_leads_to_where_it_was_handed_over(void **state)
{
    struct thread *t = *state;

    push(t, MODULE, "net");
    hand(t, 1, "");
    leave(t);
    push(t, USER, "worker");
    assert_true(push_work(t, 1, "dot"));
    assert_at(t, "m:net > o:dot");
    push(t, MODULE, "inner");
    assert_true(pop(t));
    assert_at(t, "m:net > o:dot");
    assert_true(pop(t));
    assert_string_equal(ml_dict_text(&t->dict, ml_dict_scope_at(&t->dict, t->event_scope).name),
                        "net");
    assert_at(t, "u:worker");
    assert_true(push_work(t, 1, "again"));
    assert_at(t, "o:again");
}

/* It is named by who hands it over, by who takes it, or not at all. */
static void work_needs_no_name(void **state)
{
    struct thread *t = *state;

    push(t, USER, "outer");
    hand(t, 1, "sum");
    hand(t, 2, "");
    leave(t);
    assert_true(push_work(t, 1, ""));
    assert_at(t, "u:outer > o:sum");
    assert_false(push_work(t, 2, ""));
    assert_at(t, "u:outer");
    assert_false(pop(t));
    assert_at(t, "u:outer > o:sum");
}

static void inner_path_follows_the_name(void **state)
{
    struct thread *t = *state;

    push(t, USER, "step0");
    push(t, MODULE, "net");
    push(t, MODULE, "layer");
    made(t, 1, 5, 6);
    leave(t);
    push(t, USER, "step1");
    push(t, MODULE, "net");
    push_tape_with(t, 1, 5, ML_TAPE_INNER, "");
    assert_at(t, "u:step1 > m:net > m:layer");
    assert_false(pop(t));
    push_tape_with(t, 1, 9, ML_TAPE_INNER, "");
    assert_at(t, "u:step1 > m:net");
    assert_false(pop(t));
    push(t, MODULE, "another");
    push_tape_with(t, 1, 5, ML_TAPE_INNER, "");
    assert_at(t, "u:step1 > m:net > m:another");
}

static void a_function_ends_with_the_next_push_or_pop(void **state)
{
    struct thread *t = *state;

    push(t, USER, "epoch");
    enter_function(t, "train");
    assert_at(t, "u:epoch > m:train/function");
    enter_function(t, "other"); /* not inside of the first */
    assert_at(t, "u:epoch > m:other/function");
    push_class(t, MODULE, "GPT", "GPT");
    assert_at(t, "u:epoch > m:GPT/GPT");
    pop(t);
    assert_at(t, "u:epoch");
    enter_function(t, "train");
    assert_true(pop(t)); /* of the epoch */
    assert_at(t, "");
    assert_int_equal(t->source.place.depth, 0);
}

/* The operator is named too: a function is not a layer. */
static void backward_of_a_function_names_it(void **state)
{
    struct thread *t = *state;

    enter_function(t, "train");
    made(t, 7, 10, 15);
    push_tape(t, 7, 12);
    assert_at(t, "p:backward > m:train/function > o:op");
    pop(t);
    assert_at(t, ""); /* the node has ended the function */
}

static void layers_are_below_the_module(void **state)
{
    struct thread *t = *state;

    push(t, MODULE, "GPT");
    push(t, MODULE | ML_PUSH_BELOW, "head");
    assert_at(t, "m:GPT > m:head");
    assert_true(pop(t));
    push(t, MODULE, "blocks.0");
    made(t, 1, 5, 6);
    push(t, MODULE | ML_PUSH_BELOW, "mlp.1");
    assert_at(t, "m:GPT > m:blocks.0 > m:blocks.0.mlp.1");
    leave(t);
    push_tape(t, 1, 5);
    push(t, MODULE | ML_PUSH_BELOW, "mlp.1");
    assert_at(t, "p:backward > m:GPT > m:blocks.0 > m:blocks.0.mlp.1");
    leave(t);
    push(t, PHASE, "recompute");
    push(t, MODULE | ML_PUSH_BELOW, "mlp.1");
    assert_at(t, "p:recompute > m:mlp.1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(classes_tell_scopes_apart, setup, teardown),
        cmocka_unit_test_setup_teardown(pops_too_many_do_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(tape_leads_to_where_it_was_made, setup, teardown),
        cmocka_unit_test_setup_teardown(operator_names_what_no_module_does, setup, teardown),
        cmocka_unit_test_setup_teardown(pushes_inside_a_tape_balance, setup, teardown),
        cmocka_unit_test_setup_teardown(recomputed_nodes_lie_beside_the_first, setup, teardown),
        cmocka_unit_test_setup_teardown(too_deep_is_ignored_with_its_pop, setup, teardown),
        cmocka_unit_test_setup_teardown(tapes_nest_so_deep_only, setup, teardown),
        cmocka_unit_test_setup_teardown(work_leads_to_where_it_was_handed_over, setup, teardown),
        cmocka_unit_test_setup_teardown(work_needs_no_name, setup, teardown),
        cmocka_unit_test_setup_teardown(inner_path_follows_the_name, setup, teardown),
        cmocka_unit_test_setup_teardown(a_function_ends_with_the_next_push_or_pop, setup, teardown),
        cmocka_unit_test_setup_teardown(backward_of_a_function_names_it, setup, teardown),
        cmocka_unit_test_setup_teardown(layers_are_below_the_module, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
