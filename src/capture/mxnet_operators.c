/* mxnet_operators.c: see mxnet_operators.h.
 *
 * The threaded engines call ExecuteOprBlock for each operator, on the thread that runs
 * it; one that ends may start another in the same place, so scopes can nest. The naive
 * engine runs what is pushed at once, on the thread that pushes. An exception of the
 * operator passes through there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "mxnet_operators.h"

#include <stdbool.h>
#include <string.h>

#include "memledger/memledger.h"
#include "names.h"
#include "record.h"
#include "unwound.h"

/* mxnet::RunContext and the two callbacks of mxnet::engine, which come by value. */
struct run_context {
    uint64_t words[4];
};
struct callback {
    uint64_t words[3];
};

typedef void execute_1_function(void *engine, struct run_context context, const char *block);
typedef void execute_2_function(void *engine, struct run_context context, const char *block,
                                struct callback on_start, struct callback on_complete);
typedef void push_function(void *engine, void *function, uint64_t context, const void *reads,
                           const void *writes, int property, int priority, const char *name,
                           bool wait);

static union {
    execute_1_function *of_1;
    execute_2_function *of_2;
} real_execute;
static push_function *real_push;
static uint32_t operator_at, operator_name_at;

/* ---- Scopes --------------------------------------------------------------------- */

static void enter(const char *name)
{
    ml_record_push(MEMLEDGER_SCOPE_OPERATOR, ml_name(name && name[0] ? name : "unnamed"));
}

static void leave(void)
{
    ml_record_pop();
}
ML_UNWOUND(ml_mxnet_operator_unwound, leave)

/* The block and its operator may be gone when it has run: the name is read before. */
static const char *name_in(const char *block)
{
    const char *operator, * name;

    memcpy(&operator, block + operator_at, sizeof(operator));
    memcpy(&name, operator+ operator_name_at, sizeof(name));
    return name;
}

/* ---- Hooks ---------------------------------------------------------------------- */

static ML_NOINLINE void execute_1(void *engine, struct run_context context, const char *block)
{
    ML_TELL_UNWOUND(ml_mxnet_operator_unwound);
    enter(name_in(block));
    real_execute.of_1(engine, context, block);
    leave();
}

static ML_NOINLINE void execute_2(void *engine, struct run_context context, const char *block,
                                  struct callback on_start, struct callback on_complete)
{
    ML_TELL_UNWOUND(ml_mxnet_operator_unwound);
    enter(name_in(block));
    real_execute.of_2(engine, context, block, on_start, on_complete);
    leave();
}

static ML_NOINLINE void push_naive(void *engine, void *function, uint64_t context,
                                   const void *reads, const void *writes, int property,
                                   int priority, const char *name, bool wait)
{
    ML_TELL_UNWOUND(ml_mxnet_operator_unwound);
    enter(name);
    real_push(engine, function, context, reads, writes, property, priority, name, wait);
    leave();
}

void ml_mxnet_operator_hooks(const struct ml_mxnet_layout *layout,
                             void *const reals[ML_MXNET_FUNCTIONS],
                             void *ret_hooks[ML_MXNET_FUNCTIONS])
{
    operator_at = layout->operator_at;
    operator_name_at = layout->operator_name_at;
    real_execute.of_1 = (execute_1_function *)reals[ML_MXNET_EXECUTE];
    real_push = (push_function *)reals[ML_MXNET_NAIVE_PUSH];
    ret_hooks[ML_MXNET_EXECUTE] = layout->version < 20000 ? (void *)execute_1 : (void *)execute_2;
    ret_hooks[ML_MXNET_NAIVE_PUSH] = (void *)push_naive;
}
