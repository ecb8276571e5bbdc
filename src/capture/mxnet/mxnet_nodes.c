/* mxnet_nodes.c: see mxnet_nodes.h.
 *
 * Autograd numbers the operations that it records: "node_7". The gradient is a node
 * "node_7_backward", which runs in the scopes that node 7 was recorded in (ML_REC_TAPE). A graph of
 * the program has its own names, "fc1" and "fc1_backward". If MXNet built the graph from calls that
 * it traced once, its nodes have numbers as well: then these scopes apply, as far as they are inner
 * ones. The recorded graph as a whole has no number that backward knows: its state is passed from
 * one to the other.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "mxnet_nodes.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "memledger/memledger.h"
#include "mxnet_features.h"
#include "mxnet_outputs.h"
#include "mxnet_scopes.h"
#include "mxnet_works.h"
#include "names.h"
#include "record.h"
#include "unwound.h"

#define NUMBERED "node_"
#define BACKWARD "_backward"
#define NUMBERS 0         /* the tape of numbered nodes; others are identified by addresses */
#define SUM "sum_grad"    /* of gradients that are added up: not a node of the program */
#define GRAPH "_CachedOp" /* the operator of a whole graph */

/* mxnet::Imperative, a singleton. */
struct imperative {
    uint64_t numpy;
    uint64_t nodes; /* the number of the next one */
};

typedef void record_function(struct imperative *imperative, struct ml_mxnet_node *node,
                             const void *inputs, const void *outputs, const void *const *state,
                             void *save_inputs, void *save_outputs);
typedef void *invoke_function(void *ret, struct imperative *imperative, const void *context,
                              const struct ml_mxnet_node *node, const void *inputs,
                              const void *outputs, const void *requests, int mode,
                              const void *const *state);
typedef void *backward_function(void *ret, struct imperative *imperative, const void *outputs,
                                const void *gradients, const void *variables, bool is_train,
                                bool retain_graph, bool create_graph);
typedef void executor_backward_function(void *executor, const void *gradients, bool is_train);

typedef void graph_backward_function(void *graph, bool keep, const void *const *state,
                                     const void *inputs, const void *requests, const void *outputs);

typedef void record_deferred_function(struct imperative *imperative, struct ml_mxnet_node *node,
                                      const void *inputs, const void *outputs);

static record_function *real_record;
static record_deferred_function *real_record_deferred;
static invoke_function *real_invoke;
static backward_function *real_backward;
static executor_backward_function *real_executor_backward;
static graph_backward_function *real_static_backward, *real_dynamic_backward;
static __thread uint32_t graphs; /* the number of graphs whose backward this thread is in */
/* The last node in this backward whose gradient was asked for. A sum of several gradients has no
 * number: the last of them was that node's. 0: none. */
static __thread uint64_t last_gradient;

/* ---- Names ---------------------------------------------------------------------- */

/* Without the suffix of a gradient. */
static size_t forward_bytes(const char *name)
{
    static const char *const ends[] = {BACKWARD, BACKWARD "_lhs", BACKWARD "_rhs"};
    size_t bytes = strnlen(name, ML_NAME_MAX_BYTES);

    for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
        size_t end = strlen(ends[i]);
        if (bytes > end && !memcmp(name + bytes - end, ends[i], end))
            return bytes - end;
    }
    return bytes;
}

/* "node_7", "node_7_backward": 7. */
static bool is_numbered(const char *name, uint64_t *ret_number)
{
    const char *digit = name + strlen(NUMBERED);
    uint64_t number = 0;

    if (strncmp(name, NUMBERED, strlen(NUMBERED)) || *digit < '0' || *digit > '9')
        return false;
    for (; *digit >= '0' && *digit <= '9'; digit++)
        number = number * 10 + (uint64_t)(*digit - '0');
    *ret_number = number;
    return true;
}

/* MXNet's own nodes have the names of their operators, `_zeros_without_dtype` without the
 * underscore. */
static bool is_operator(const char *name, const char *op)
{
    return !strcmp(name, op) || (op[0] == '_' && !strcmp(name, op + 1));
}

static bool is_named(const struct ml_mxnet_node *node)
{
    return node->name[0] && strcmp(node->name, SUM) &&
           !(node->op && is_operator(node->name, *node->op));
}

/* ---- Forward and backward -------------------------------------------------------- */

static void record_created(uint64_t tape, uint64_t first, uint64_t end)
{
    uint64_t words[] = {ml_record_word(ML_REC_TAPE, 0, ml_now()), tape, first, end};

    ml_record(words, 4);
}

static void enter_created(uint64_t tape, uint64_t number, enum ml_tape_flags flags)
{
    uint64_t words[] = {ml_record_word(ML_REC_PUSH_TAPE, 0, ml_now()), tape, number,
                        ml_pair(flags, 0)};

    ml_record(words, 4);
}

/* If another thread takes a number at the same time, this one's is unknown. */
static void record_numbered(const struct imperative *imperative, uint64_t first)
{
    uint64_t end = __atomic_load_n(&imperative->nodes, __ATOMIC_RELAXED);

    if (end - first == 1)
        record_created(NUMBERS, first, end);
}

static void record(struct imperative *imperative, struct ml_mxnet_node *node, const void *inputs,
                   const void *outputs, const void *const *state, void *save_inputs,
                   void *save_outputs)
{
    uint64_t first = __atomic_load_n(&imperative->nodes, __ATOMIC_RELAXED);
    const void *graph = node->op && !strcmp(*node->op, GRAPH) ? *state : NULL;

    real_record(imperative, node, inputs, outputs, state, save_inputs, save_outputs);
    record_numbered(imperative, first);
    if (graph)
        record_created((uintptr_t)graph, 0, 1);
}

static void record_deferred(struct imperative *imperative, struct ml_mxnet_node *node,
                            const void *inputs, const void *outputs)
{
    uint64_t first = __atomic_load_n(&imperative->nodes, __ATOMIC_RELAXED);

    real_record_deferred(imperative, node, inputs, outputs);
    record_numbered(imperative, first);
}

bool ml_mxnet_enter_node(const struct ml_mxnet_node *node)
{
    uint64_t number;

    if (!is_named(node))
        return false;
    if (is_numbered(node->name, &number))
        enter_created(NUMBERS, number, ML_TAPE_INNER);
    else
        ml_record_push(MEMLEDGER_SCOPE_MODULE,
                       ml_name_bytes(node->name, forward_bytes(node->name)));
    return true;
}

/* A gradient of an operation that was recorded by itself, or a node of a graph. A gradient may
 * write to an array that another one, which has not run yet, is to write first. */
static bool enter(const struct ml_mxnet_node *node, const void *outputs)
{
    bool is_gradient = node->name[forward_bytes(node->name)];
    uint64_t number;

    if (!graphs && is_gradient && is_numbered(node->name, &number)) {
        enter_created(NUMBERS, last_gradient = number, 0);
        return true;
    }
    if (!graphs && last_gradient && !strcmp(node->name, SUM)) {
        enter_created(NUMBERS, last_gradient, 0);
        return true;
    }
    if (is_named(node))
        ml_mxnet_expect_outputs(node->name, outputs, !is_gradient);
    return ml_mxnet_enter_node(node);
}

static void leave(void)
{
    ml_record_pop();
}
ML_UNWOUND(ml_mxnet_node_unwound, leave)

static ML_NOINLINE void *invoke_inside(void *ret, struct imperative *imperative,
                                       const void *context, const struct ml_mxnet_node *node,
                                       const void *inputs, const void *outputs,
                                       const void *requests, int mode, const void *const *state)
{
    ML_TELL_UNWOUND(ml_mxnet_node_unwound);
    ret = real_invoke(ret, imperative, context, node, inputs, outputs, requests, mode, state);
    leave();
    return ret;
}

static void *invoke(void *ret, struct imperative *imperative, const void *context,
                    const struct ml_mxnet_node *node, const void *inputs, const void *outputs,
                    const void *requests, int mode, const void *const *state)
{
    if (!enter(node, outputs))
        return real_invoke(ret, imperative, context, node, inputs, outputs, requests, mode, state);
    return invoke_inside(ret, imperative, context, node, inputs, outputs, requests, mode, state);
}

static void leave_backward(void)
{
    ml_mxnet_end_head_gradients();
    last_gradient = 0;
    ml_mxnet_pop_phase();
}
ML_UNWOUND(ml_mxnet_backward_unwound, leave_backward)

static ML_NOINLINE void *backward(void *ret, struct imperative *imperative, const void *outputs,
                                  const void *gradients, const void *variables, bool is_train,
                                  bool retain_graph, bool create_graph)
{
    ML_TELL_UNWOUND(ml_mxnet_backward_unwound);
    ml_mxnet_push_phase(ML_PHASE_BACKWARD);
    ml_mxnet_begin_head_gradients();
    ret = real_backward(ret, imperative, outputs, gradients, variables, is_train, retain_graph,
                        create_graph);
    leave_backward();
    return ret;
}

ML_UNWOUND(ml_mxnet_executor_backward_unwound, ml_mxnet_pop_phase)

static ML_NOINLINE void executor_backward(void *executor, const void *gradients, bool is_train)
{
    ML_TELL_UNWOUND(ml_mxnet_executor_backward_unwound);
    ml_mxnet_push_phase(ML_PHASE_BACKWARD);
    real_executor_backward(executor, gradients, is_train);
    ml_mxnet_pop_phase();
}

static void leave_graph(void)
{
    graphs--;
    leave();
}
ML_UNWOUND(ml_mxnet_graph_unwound, leave_graph)

static ML_NOINLINE void graph_backward(graph_backward_function *real, void *graph, bool keep,
                                       const void *const *state, const void *inputs,
                                       const void *requests, const void *outputs)
{
    ML_TELL_UNWOUND(ml_mxnet_graph_unwound);
    enter_created((uintptr_t)*state, 0, 0);
    graphs++;
    real(graph, keep, state, inputs, requests, outputs);
    leave_graph();
}

static void static_backward(void *graph, bool keep, const void *const *state, const void *inputs,
                            const void *requests, const void *outputs)
{
    graph_backward(real_static_backward, graph, keep, state, inputs, requests, outputs);
}

static void dynamic_backward(void *graph, bool keep, const void *const *state, const void *inputs,
                             const void *requests, const void *outputs)
{
    graph_backward(real_dynamic_backward, graph, keep, state, inputs, requests, outputs);
}

/* ---- Feature --------------------------------------------------------------------- */

#define RECORD                                                                                     \
    "_ZN5mxnet10Imperative8RecordOpEON4nnvm9NodeAttrsERKSt6vectorIPNS_7NDArrayESaIS6_EESA_RKNS_10" \
    "OpStatePtrEPS4_IbSaIbEESG_"
#define DEFERRED_RECORD                                                                            \
    "_ZN5mxnet10Imperative21RecordDeferredComputeEON4nnvm9NodeAttrsERKSt6vectorIPNS_"              \
    "7NDArrayESaIS6_"                                                                              \
    "EESA_"
#define INVOKE                                                                                     \
    "_ZN5mxnet10Imperative8InvokeOpERKNS_7ContextERKN4nnvm9NodeAttrsERKSt6vectorIPNS_7NDArrayESaI" \
    "SA_EESE_RKS8_INS_9OpReqTypeESaISF_EENS_12DispatchModeENS_10OpStatePtrE"
#define AUTOGRAD_BACKWARD                                                                          \
    "_ZN5mxnet10Imperative8BackwardERKSt6vectorIPNS_7NDArrayESaIS3_EES7_S7_bbb"
#define STATIC_BACKWARD "_ZN5mxnet8CachedOp14StaticBackward" GRAPH_ARGUMENTS
#define DYNAMIC_BACKWARD "_ZN5mxnet8CachedOp15DynamicBackward" GRAPH_ARGUMENTS
#define GRAPH_ARGUMENTS                                                                            \
    "EbRKNS_10OpStatePtrERKSt6vectorIPNS_7NDArrayESaIS6_EERKS4_INS_9OpReqTypeESaISB_EESA_"
#define EXECUTOR_BACKWARD "_ZN5mxnet4exec13GraphExecutor8BackwardERKSt6vectorINS_7NDArrayESaIS3_EEb"
#define EXECUTOR_TABLE "_ZTVN5mxnet4exec13GraphExecutorE"

const struct ml_mxnet_feature *ml_mxnet_nodes_feature(const struct ml_mxnet_layout *layout)
{
    enum { EXECUTOR = 5, DEFERRED };
    static struct ml_mxnet_feature feature = {
        .exchanges = {{NULL, RECORD, (void *)record, (void **)&real_record},
                      {NULL, INVOKE, (void *)invoke, (void **)&real_invoke},
                      {NULL, AUTOGRAD_BACKWARD, (void *)backward, (void **)&real_backward},
                      {NULL, STATIC_BACKWARD, (void *)static_backward,
                       (void **)&real_static_backward},
                      {NULL, DYNAMIC_BACKWARD, (void *)dynamic_backward,
                       (void **)&real_dynamic_backward},
                      [EXECUTOR] = {EXECUTOR_TABLE, EXECUTOR_BACKWARD, (void *)executor_backward,
                                    (void **)&real_executor_backward},
                      [DEFERRED] = {NULL, DEFERRED_RECORD, (void *)record_deferred,
                                    (void **)&real_record_deferred}},
    };

    feature.exchanges[layout->version < 20000 ? DEFERRED : EXECUTOR].function = NULL;
    return &feature;
}
