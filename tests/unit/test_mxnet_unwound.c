/* test_mxnet_unwound.c: exceptions that pass through the hook on MXNet's engine.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mxnet_features.h"
#include "mxnet_operators.h"
#include "mxnet_parts.h"
#include "mxnet_works.h"
#include "throwing.h"

/* What the engine executes has a pointer to an operator, and that its name. */
struct op {
    uint64_t function[4];
    const char *name;
};

struct block {
    uint64_t before;
    const struct op *op;
};

typedef void execute_function(void *engine, struct ml_mxnet_run_context context,
                              const struct block *block);

static execute_function *hook;

static const struct op bulk = {.name = "ImperativeBulk"}, plain = {.name = "relu"};
static const struct block bulk_block = {.op = &bulk}, plain_block = {.op = &plain};

/* What the engine does with it, in the test at hand. */
static void (*run)(void);

static void execute(void *engine, struct ml_mxnet_run_context context, const struct block *block)
{
    (void)engine, (void)context, (void)block;
    run();
}

static int put_hook_in_place(void **state)
{
    static const struct ml_mxnet_layout layout = {
        .version = 10901,
        .symbols = {[ML_MXNET_EXECUTE] = "execute"},
        .operator_at = offsetof(struct block, op),
        .operator_name_at = offsetof(struct op, name),
    };
    const struct ml_mxnet_exchange *exchange = ml_mxnet_operators_feature(&layout)->exchanges;

    (void)state;
    hook = (execute_function *)exchange->hook;
    *exchange->real = (void *)execute;
    ml_mxnet_works_on = true;
    return 0;
}

static void execute_hooked(void *block)
{
    hook(NULL, (struct ml_mxnet_run_context){{0}}, block);
}

static bool hook_throws(const struct block *block, void (*what)(void))
{
    run = what;
    return throws(execute_hooked, (void *)(uintptr_t)block);
}

/* ---- Tests ------------------------------------------------------------------------ */

static void is_in_bulk(void)
{
    assert_true(ml_mxnet_begin_part());
}

static void a_bulk_that_ends(void **state)
{
    (void)state;
    assert_false(hook_throws(&bulk_block, is_in_bulk));
    assert_false(ml_mxnet_begin_part());
}

static void a_bulk_that_throws(void **state)
{
    (void)state;
    assert_true(hook_throws(&bulk_block, throw_now));
    assert_false(ml_mxnet_begin_part());
}

static void throws_inside(void)
{
    assert_true(hook_throws(&plain_block, throw_now));
    assert_true(ml_mxnet_begin_part()); /* of the outer one */
    throw_now();
}

static void one_inside_another(void **state)
{
    (void)state;
    assert_true(hook_throws(&bulk_block, throws_inside));
    assert_false(ml_mxnet_begin_part());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_bulk_that_ends, put_hook_in_place),
        cmocka_unit_test_setup(a_bulk_that_throws, put_hook_in_place),
        cmocka_unit_test_setup(one_inside_another, put_hook_in_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
