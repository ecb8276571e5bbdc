/* mxnet_executors.c: see mxnet_executors.h.
 *
 * There are four classes of mxnet::exec::OpExecutor, each with a Run of its own. In 2.0
 * one of them does not know which node it is.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "mxnet_executors.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "memledger/memledger.h"
#include "mxnet_nodes.h"
#include "mxnet_operators.h"
#include "names.h"
#include "record.h"
#include "unwound.h"

typedef void run_function(char *executor, struct ml_mxnet_run_context context, bool is_gpu);

enum class { COMPUTE, COMPUTE_EX, STATEFUL, STATEFUL_EX, CLASSES };

static run_function *reals[CLASSES];
static uint32_t node_at[CLASSES]; /* 0: it has none */
static const void *invoker;       /* of the operators that run executors */
static bool is_on;

bool ml_mxnet_runs_executors(const void *op)
{
    enum { INVOKER_AT = 24 }; /* in the std::function that an operator begins with */
    const void *its;

    memcpy(&its, (const char *)op + INVOKER_AT, sizeof(its));
    return is_on && its == invoker;
}

/* ---- Scopes --------------------------------------------------------------------- */

static void leave(void)
{
    ml_record_pop();
}
ML_UNWOUND(ml_mxnet_executor_unwound, leave)

static ML_NOINLINE void run_operator(run_function *real, char *executor,
                                     struct ml_mxnet_run_context context, bool is_gpu,
                                     uint32_t name)
{
    ML_TELL_UNWOUND(ml_mxnet_executor_unwound);
    ml_record_push(MEMLEDGER_SCOPE_OPERATOR, name ? name : ml_name("unnamed"));
    real(executor, context, is_gpu);
    leave();
}

static ML_NOINLINE void run_node(run_function *real, char *executor,
                                 struct ml_mxnet_run_context context, bool is_gpu, uint32_t name)
{
    ML_TELL_UNWOUND(ml_mxnet_executor_unwound);
    run_operator(real, executor, context, is_gpu, name);
    leave();
}

static void run(enum class class, char *executor, struct ml_mxnet_run_context context, bool is_gpu)
{
    const struct ml_mxnet_node *node = (const void *)(executor + node_at[class]);
    uint32_t name;

    if (!node_at[class] || !node->op) {
        run_operator(reals[class], executor, context, is_gpu, ml_mxnet_operator_name);
        return;
    }
    name = ml_name(*node->op);
    if (ml_mxnet_enter_node(node))
        run_node(reals[class], executor, context, is_gpu, name);
    else
        run_operator(reals[class], executor, context, is_gpu, name);
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

/* ---- Putting in place ------------------------------------------------------------ */

#define EXCHANGE(class, hook)                                                                      \
    {                                                                                              \
        "_ZTVN5mxnet4exec" class "E", "_ZN5mxnet4exec" class "3RunENS_10RunContextEb",             \
            (void *)(hook)                                                                         \
    }
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
                      [STATEFUL_EX] = EXCHANGE("25StatefulComputeExExecutor", run_stateful_ex)},
        .is_on = &is_on,
    };

    for (unsigned i = 0; i < CLASSES; i++) {
        feature.exchanges[i].real = (void **)&reals[i];
        node_at[i] = layout->executor_node_at[i];
    }
    feature.exchanges[CLASSES] = (struct ml_mxnet_exchange){
        NULL, layout->version < 20000 ? INVOKER_1 : INVOKER_2, NULL, (void **)&invoker};
    return &feature;
}
