/* torch_autograd.c: PyTorch's backward pass, node by node.
 *
 * libtorch_cpu calls Engine::evaluate_function by name for each node of the graph, on the thread of
 * the node's device, and Python's engine calls Engine::execute for a whole pass. An exception
 * passes through both (-fexceptions), and unwound.h reports it on the way. A call that is not
 * recorded is only forwarded, so that each leave has its enter.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recorder.h"
#include "torch_hook.h"
#include "torch_nodes.h"
#include "torch_scopes.h"
#include "unwound.h"

typedef void evaluate_function(void *engine, void *task, void *node, void *inputs, void *queue);
typedef void *execute_function(void *ret, void *engine, const void *roots, const void *inputs,
                               bool keep_graph, bool create_graph, bool accumulate,
                               const void *outputs);

ML_TORCH_CPU_ENTRIES(ML_TORCH_DECLARE_HOOK)

ML_UNWOUND(ml_torch_node_unwound, ml_torch_leave_node)
ML_UNWOUND(ml_torch_backward_unwound, ml_torch_leave_backward)

static ML_NOINLINE void evaluate_recorded(evaluate_function *real, void *engine, void *task,
                                          void *node, void *inputs, void *queue)
{
    struct ml_torch_node n = ml_torch_node(node);

    ML_TELL_UNWOUND(ml_torch_node_unwound);
    ml_torch_enter_node(n.tape, n.number, n.operator_name);
    real(engine, task, node, inputs, queue);
    ml_torch_leave_node();
}

void evaluate(void *engine, void *task, void *node, void *inputs, void *queue)
{
    evaluate_function *real = ML_TORCH_REAL(evaluate);

    if (ml_recorder_in_session())
        evaluate_recorded(real, engine, task, node, inputs, queue);
    else
        real(engine, task, node, inputs, queue);
}

static ML_NOINLINE void *execute_recorded(execute_function *real, void *ret, void *engine,
                                          const void *roots, const void *inputs, bool keep_graph,
                                          bool create_graph, bool accumulate, const void *outputs)
{
    ML_TELL_UNWOUND(ml_torch_backward_unwound);
    ml_torch_enter_backward();
    ret = real(ret, engine, roots, inputs, keep_graph, create_graph, accumulate, outputs);
    ml_torch_leave_backward();
    return ret;
}

void *execute(void *ret, void *engine, const void *roots, const void *inputs, bool keep_graph,
              bool create_graph, bool accumulate, const void *outputs)
{
    execute_function *real = ML_TORCH_REAL(execute);

    if (!ml_recorder_in_session())
        return real(ret, engine, roots, inputs, keep_graph, create_graph, accumulate, outputs);
    return execute_recorded(real, ret, engine, roots, inputs, keep_graph, create_graph, accumulate,
                            outputs);
}
