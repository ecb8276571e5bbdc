/* mxnet_operators.c: see mxnet_operators.h.
 *
 * The threaded engines call ExecuteOprBlock for each operator, on the thread that runs it; an
 * operator that ends may start another in the same place. The naive engine runs a pushed operator
 * at once, on the thread that pushes. An exception of the operator passes through there; the
 * threaded engines mostly catch it before.
 *
 * An operator ends when it reports its completion, which may be long before its thread returns from
 * it. From then on a program that waited for the operator continues: if it stops the profile, the
 * operator's end must be recorded already.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "mxnet_operators.h"

#include <stdbool.h>
#include <string.h>

#include "memledger/memledger.h"
#include "mxnet_executors.h"
#include "mxnet_features.h"
#include "mxnet_works.h"
#include "names.h"
#include "record.h"
#include "unwound.h"

/* The two callbacks of mxnet::engine, which are passed by value. */
struct callback {
    uint64_t words[3];
};

typedef void execute_1_function(void *engine, struct ml_mxnet_run_context context,
                                const char *block);
typedef void execute_2_function(void *engine, struct ml_mxnet_run_context context,
                                const char *block, struct callback on_start,
                                struct callback on_complete);
typedef void complete_function(void *engine, void *block, const void *error);
typedef void push_function(void *engine, void *function, uint64_t context, const void *reads,
                           const void *writes, int property, int priority, const char *name,
                           bool wait);
typedef void push_operator_function(void *engine, void *op, uint64_t context, int priority,
                                    bool profiling);

static union {
    execute_1_function *of_1;
    execute_2_function *of_2;
} real_execute;
static complete_function *real_complete;
static push_function *real_push;
static push_operator_function *real_push_operator;
static uint32_t operator_at, operator_name_at;

/* ---- Scopes --------------------------------------------------------------------- */

__thread uint32_t ml_mxnet_operator_name;

uint32_t ml_mxnet_operator_number(const char *name)
{
    return name && name[0] ? ml_name(name) : 0;
}

static void leave(void)
{
    ml_record_pop();
}
ML_UNWOUND(ml_mxnet_operator_unwound, leave)

static const char *name_of(const void *op)
{
    const char *name;

    memcpy(&name, (const char *)op + operator_name_at, sizeof(name));
    return name;
}

/* A block that a thread runs, in the frame of its hook, where an exception that ends the hook finds
 * it. */
struct running {
    const void *block;
    bool has_scope, has_ended;
    uintptr_t outer_work;
    struct running *outer;
};
static __thread struct running *innermost;

/* The block and its operator may be gone after it has run: the name is read before. Scopes nest,
 * and so do the records about works. */
static void begin_block(const char *block, struct running *running)
{
    const void *op;

    memcpy(&op, block + operator_at, sizeof(op));
    ml_mxnet_operator_name = ml_mxnet_operator_number(name_of(op));
    *running = (struct running){.block = block,
                                .has_scope = ml_mxnet_works_on || ml_mxnet_operator_name,
                                .outer = innermost};
    innermost = running;
    if (ml_mxnet_works_on)
        running->outer_work = ml_mxnet_begin_work(
            op, name_of(op), ml_mxnet_runs_executors(op) ? 0 : ml_mxnet_operator_name);
    else if (running->has_scope)
        ml_record_push(MEMLEDGER_SCOPE_OPERATOR, ml_mxnet_operator_name);
}

static void end_operator(struct running *running)
{
    if (running->has_ended)
        return;
    running->has_ended = true;
    if (running->has_scope)
        leave();
    ml_mxnet_end_work(running->outer_work);
}

static void end_block(void)
{
    end_operator(innermost);
    innermost = innermost->outer;
}
ML_UNWOUND(ml_mxnet_block_unwound, end_block)

/* ---- Hooks ---------------------------------------------------------------------- */

static ML_NOINLINE void execute_1(void *engine, struct ml_mxnet_run_context context,
                                  const char *block)
{
    struct running running;

    ML_TELL_UNWOUND(ml_mxnet_block_unwound);
    begin_block(block, &running);
    real_execute.of_1(engine, context, block);
    end_block();
}

static ML_NOINLINE void execute_2(void *engine, struct ml_mxnet_run_context context,
                                  const char *block, struct callback on_start,
                                  struct callback on_complete)
{
    struct running running;

    ML_TELL_UNWOUND(ml_mxnet_block_unwound);
    begin_block(block, &running);
    real_execute.of_2(engine, context, block, on_start, on_complete);
    end_block();
}

/* A node that completes its operator itself is still a scope. */
static void complete(void *engine, void *block, const void *error)
{
    if (innermost && innermost->block == block && !ml_mxnet_is_in_executor())
        end_operator(innermost);
    real_complete(engine, block, error);
}

static ML_NOINLINE void push_naive_inside(void *engine, void *function, uint64_t context,
                                          const void *reads, const void *writes, int property,
                                          int priority, const char *name, bool wait)
{
    ML_TELL_UNWOUND(ml_mxnet_operator_unwound);
    ml_record_push(MEMLEDGER_SCOPE_OPERATOR | ML_PUSH_IMPERATIVE, ml_mxnet_operator_number(name));
    real_push(engine, function, context, reads, writes, property, priority, name, wait);
    leave();
}

static void push_naive(void *engine, void *function, uint64_t context, const void *reads,
                       const void *writes, int property, int priority, const char *name, bool wait)
{
    if (ml_mxnet_operator_number(name))
        push_naive_inside(engine, function, context, reads, writes, property, priority, name, wait);
    else
        real_push(engine, function, context, reads, writes, property, priority, name, wait);
}

/* The naive engine's Push runs the operator without a call of its hooked PushAsync. */
static void push_operator_naive(void *engine, void *op, uint64_t context, int priority,
                                bool profiling)
{
    ml_mxnet_operator_name = ml_mxnet_operator_number(name_of(op));
    real_push_operator(engine, op, context, priority, profiling);
}

#define COMPLETE "_ZN5mxnet6engine14ThreadedEngine16OnCompleteStaticEPNS_6EngineEPvPKN4dmlc5ErrorE"
#define NAIVE_PUSH_OPERATOR "_ZN5mxnet6engine11NaiveEngine4PushEPNS0_3OprENS_7ContextEib"

const struct ml_mxnet_feature *ml_mxnet_operators_feature(const struct ml_mxnet_layout *layout)
{
    static struct ml_mxnet_feature feature;

    operator_at = layout->operator_at;
    operator_name_at = layout->operator_name_at;
    feature.exchanges[0] = (struct ml_mxnet_exchange){
        NULL, layout->symbols[ML_MXNET_EXECUTE],
        layout->version < 20000 ? (void *)execute_1 : (void *)execute_2, (void **)&real_execute};
    feature.exchanges[1] =
        (struct ml_mxnet_exchange){ML_MXNET_NAIVE_VTABLE, layout->symbols[ML_MXNET_NAIVE_PUSH],
                                   (void *)push_naive, (void **)&real_push};
    feature.exchanges[2] =
        (struct ml_mxnet_exchange){ML_MXNET_NAIVE_VTABLE, NAIVE_PUSH_OPERATOR,
                                   (void *)push_operator_naive, (void **)&real_push_operator};
    feature.exchanges[3] =
        (struct ml_mxnet_exchange){NULL, COMPLETE, (void *)complete, (void **)&real_complete};
    return &feature;
}
