/* mxnet_executors.c: see mxnet_executors.h.
 *
 * There are four classes of mxnet::exec::OpExecutor, each with its own Run. In 2.0 one of them does
 * not know its node.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "mxnet_executors.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "memledger/memledger.h"
#include "mxnet_features.h"
#include "mxnet_outputs.h"
#include "mxnet_nodes.h"
#include "mxnet_operators.h"
#include "names.h"
#include "record.h"
#include "unwound.h"

#define OUTPUTS_AT 32 /* in an executor: a std::vector of arrays */

typedef void run_function(char *executor, struct ml_mxnet_run_context context, bool is_gpu);
typedef int type_function(const char *executor);

#define ASYNCHRONOUS 1 /* mxnet::ExecType::kAsync */
#define SETUP_NAME "SetupExec"

enum executor_kind { COMPUTE, COMPUTE_EX, STATEFUL, STATEFUL_EX, CLASSES };

static run_function *reals[CLASSES];
static type_function *types[CLASSES]; /* NULL: not needed */
static uint32_t node_at[CLASSES];     /* 0: it has none */
/* Operators that run executors: that of graphs, and those of symbolic executors, whose creation is
 * hooked. */
static const void *graph_invoker;
static _Atomic(const void *) symbolic_invokers[2];
static bool is_on;

static const void *invoker_in(const void *function)
{
    enum { INVOKER_AT = 24 }; /* in a std::function */
    const void *invoker;

    memcpy(&invoker, (const char *)function + INVOKER_AT, sizeof(invoker));
    return invoker;
}

static bool is_symbolic(const void *invoker)
{
    return atomic_load_explicit(&symbolic_invokers[0], memory_order_relaxed) == invoker ||
           atomic_load_explicit(&symbolic_invokers[1], memory_order_relaxed) == invoker;
}

/* An operator begins with the function that it runs. */
bool ml_mxnet_runs_executors(const void *op)
{
    const void *invoker = invoker_in(op);

    return is_on && (invoker == graph_invoker || is_symbolic(invoker));
}

/* ---- Scopes --------------------------------------------------------------------- */

static __thread unsigned open_scopes; /* of the nodes that this thread runs */

bool ml_mxnet_is_in_executor(void)
{
    return open_scopes;
}

static void leave(void)
{
    open_scopes--;
    ml_record_pop();
}
ML_UNWOUND(ml_mxnet_executor_unwound, leave)

static ML_NOINLINE void run_inside(run_function *real, char *executor,
                                   struct ml_mxnet_run_context context, bool is_gpu)
{
    ML_TELL_UNWOUND(ml_mxnet_executor_unwound);
    open_scopes++;
    real(executor, context, is_gpu);
    leave();
}

static void run_operator(run_function *real, char *executor, struct ml_mxnet_run_context context,
                         bool is_gpu, uint32_t name)
{
    if (!name) {
        real(executor, context, is_gpu);
        return;
    }
    ml_record_push(MEMLEDGER_SCOPE_OPERATOR, name);
    run_inside(real, executor, context, is_gpu);
}

static ML_NOINLINE void run_node(run_function *real, char *executor,
                                 struct ml_mxnet_run_context context, bool is_gpu, uint32_t name)
{
    ML_TELL_UNWOUND(ml_mxnet_executor_unwound);
    open_scopes++;
    run_operator(real, executor, context, is_gpu, name);
    leave();
}

/* An asynchronous one may continue after its Run, on another thread, and be deleted there. */
static bool outlives_its_run(enum executor_kind kind, const char *executor)
{
    return !types[kind] || types[kind](executor) != ASYNCHRONOUS;
}

static void run(enum executor_kind kind, char *executor, struct ml_mxnet_run_context context,
                bool is_gpu)
{
    const struct ml_mxnet_node *node = (const void *)(executor + node_at[kind]);
    uint64_t empty;
    uint32_t name;

    if (!node_at[kind] || !node->op) {
        run_operator(reals[kind], executor, context, is_gpu, ml_mxnet_operator_name);
        return;
    }
    name = ml_name(*node->op);
    empty = ml_mxnet_expect_own_outputs(node->name, executor + OUTPUTS_AT);
    if (empty && !outlives_its_run(kind, executor))
        empty = 0;
    if (ml_mxnet_enter_node(node))
        run_node(reals[kind], executor, context, is_gpu, name);
    else
        run_operator(reals[kind], executor, context, is_gpu, name);
    if (empty)
        ml_mxnet_label_own_outputs(node->name, executor + OUTPUTS_AT, empty);
}

static void run_compute(char *executor, struct ml_mxnet_run_context context, bool is_gpu)
{
    run(COMPUTE, executor, context, is_gpu);
}

static void run_compute_ex(char *executor, struct ml_mxnet_run_context context, bool is_gpu)
{
    run(COMPUTE_EX, executor, context, is_gpu);
}

static void run_stateful(char *executor, struct ml_mxnet_run_context context, bool is_gpu)
{
    run(STATEFUL, executor, context, is_gpu);
}

static void run_stateful_ex(char *executor, struct ml_mxnet_run_context context, bool is_gpu)
{
    run(STATEFUL_EX, executor, context, is_gpu);
}

/* ---- Symbolic executors --------------------------------------------------------- */

typedef void *new_operator_function(void *engine, const void *function, const void *reads,
                                    const void *writes, int property, const char *name, bool wait);
typedef void init_function(void *executor);
typedef void *segment_function(void *ret, void *executor, size_t begin, size_t end);

static new_operator_function *real_new_operator, *real_new_naive;
static init_function *real_init;
static segment_function *real_segment;
static __thread bool is_making; /* creating the operators of an executor */

/* Making them also pushes work of its own, which the engine wraps like any other. */
static void note_invoker(const void *function, const char *name)
{
    const void *invoker = invoker_in(function);
    const void *none = NULL;

    if (!is_making || is_symbolic(invoker) || (name && !strcmp(name, SETUP_NAME)))
        return;
    if (!atomic_compare_exchange_strong(&symbolic_invokers[0], &none, invoker))
        atomic_store_explicit(&symbolic_invokers[1], invoker, memory_order_relaxed);
}

static void *new_operator(void *engine, const void *function, const void *reads, const void *writes,
                          int property, const char *name, bool wait)
{
    note_invoker(function, name);
    return real_new_operator(engine, function, reads, writes, property, name, wait);
}

static void *new_naive(void *engine, const void *function, const void *reads, const void *writes,
                       int property, const char *name, bool wait)
{
    note_invoker(function, name);
    return real_new_naive(engine, function, reads, writes, property, name, wait);
}

static void made(void)
{
    is_making = false;
}
ML_UNWOUND(ml_mxnet_making_unwound, made)

static ML_NOINLINE void init(void *executor)
{
    ML_TELL_UNWOUND(ml_mxnet_making_unwound);
    is_making = true;
    real_init(executor);
    made();
}

static ML_NOINLINE void *segment(void *ret, void *executor, size_t begin, size_t end)
{
    ML_TELL_UNWOUND(ml_mxnet_making_unwound);
    is_making = true;
    ret = real_segment(ret, executor, begin, end);
    made();
    return ret;
}

#define NEW_ARGUMENTS                                                                              \
    "11NewOperatorESt8functionIFvNS_10RunContextENS0_18CallbackOnCompleteEEERKSt6vectorIPNS0_3Var" \
    "ESaIS9_EESD_NS_10FnPropertyEPKcb"
#define NEW "_ZN5mxnet6engine14ThreadedEngine" NEW_ARGUMENTS
#define NEW_NAIVE "_ZN5mxnet6engine11NaiveEngine" NEW_ARGUMENTS
#define EXECUTOR "_ZN5mxnet4exec13GraphExecutor"

const struct ml_mxnet_feature *ml_mxnet_symbolic_feature(const struct ml_mxnet_layout *layout)
{
    static const struct ml_mxnet_feature feature = {
        .exchanges =
            {{ML_MXNET_PER_DEVICE_VTABLE, NEW, (void *)new_operator, (void **)&real_new_operator},
             {ML_MXNET_POOLED_VTABLE, NEW, (void *)new_operator, (void **)&real_new_operator},
             {ML_MXNET_NAIVE_VTABLE, NEW_NAIVE, (void *)new_naive, (void **)&real_new_naive},
             {NULL, EXECUTOR "13InitCachedOpsEv", (void *)init, (void **)&real_init},
             {NULL, EXECUTOR "18CreateCachedSegOprEmm", (void *)segment, (void **)&real_segment}},
    };

    return layout->version < 20000 ? &feature : NULL;
}

/* ---- Features -------------------------------------------------------------------- */

#define EXCHANGE(mangled, hook)                                                                    \
    {                                                                                              \
        "_ZTVN5mxnet4exec" mangled "E", "_ZN5mxnet4exec" mangled "3RunENS_10RunContextEb",         \
            (void *)(hook)                                                                         \
    }
#define TYPE(mangled)                                                                              \
    {                                                                                              \
        NULL, "_ZNK5mxnet4exec" mangled "9exec_typeEv"                                             \
    }
#define TYPES (CLASSES + 1) /* after those that run, and the invoker */
#define INVOKER_1                                                                                  \
    "_ZNSt17_Function_handlerIFvN5mxnet10RunContextENS0_6engine18CallbackOnCompleteEEZNS0_10"      \
    "imperative14CreateEngineOpERKNS0_7ContextERKSt6vectorISt10shared_ptrINS0_4exec10OpExecutorEE" \
    "SaISD_EEPKcEUlS1_S3_E_E9_M_invokeERKSt9_Any_dataS1_S3_"
#define INVOKER_2                                                                                  \
    "_ZNSt17_Function_handlerIFvN5mxnet10RunContextENS0_6engine15CallbackOnStartENS2_18"           \
    "CallbackOnCompleteEEZNS0_10imperative14CreateEngineOpERKNS0_7ContextERKSt6vectorISt10"        \
    "shared_ptrINS0_4exec10OpExecutorEESaISE_EEPKcEUlS1_S3_S4_E_E9_M_invokeERKSt9_Any_dataOS1_"    \
    "OS3_"                                                                                         \
    "OS4_"

const struct ml_mxnet_feature *ml_mxnet_executors_feature(const struct ml_mxnet_layout *layout)
{
    static struct ml_mxnet_feature feature = {
        .exchanges = {[COMPUTE] = EXCHANGE("16FComputeExecutor", run_compute),
                      [COMPUTE_EX] = EXCHANGE("18FComputeExExecutor", run_compute_ex),
                      [STATEFUL] = EXCHANGE("23StatefulComputeExecutor", run_stateful),
                      [STATEFUL_EX] = EXCHANGE("25StatefulComputeExExecutor", run_stateful_ex),
                      [TYPES + COMPUTE] = TYPE("16FComputeExecutor"),
                      [TYPES + COMPUTE_EX] = TYPE("18FComputeExExecutor"),
                      [TYPES + STATEFUL] = TYPE("23StatefulComputeExecutor"),
                      [TYPES + STATEFUL_EX] = TYPE("25StatefulComputeExExecutor")},
        .is_on = &is_on,
    };

    for (unsigned i = 0; i < CLASSES; i++) {
        feature.exchanges[i].real = (void **)&reals[i];
        node_at[i] = layout->executor_node_at[i];
        feature.exchanges[TYPES + i].real = (void **)&types[i];
        if (layout->version >= 20000) /* its outputs are known before it runs */
            feature.exchanges[TYPES + i].function = NULL;
    }
    feature.exchanges[CLASSES] = (struct ml_mxnet_exchange){
        NULL, layout->version < 20000 ? INVOKER_1 : INVOKER_2, NULL, (void **)&graph_invoker};
    return &feature;
}
