/* torch_autograd.c: PyTorch's backward pass, node by node.
 *
 * libtorch_cpu calls Engine::evaluate_function by name for each node of the graph,
 * on the thread of the node's device, and Python's engine calls Engine::execute for
 * a whole pass. An exception passes through both (-fexceptions). The hooks do not catch
 * it: that takes a part of the unwinder that must be the same for the whole process,
 * and ours is linked in. torch_scopes.h says how it is noticed.
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

typedef void evaluate_function(void *engine, void *task, void *node, void *inputs, void *queue);
typedef void *execute_function(void *ret, void *engine, const void *roots, const void *inputs,
                               bool keep_graph, bool create_graph, bool accumulate,
                               const void *outputs);

ML_TORCH_CPU_ENTRIES(ML_TORCH_DECLARE_HOOK)

void evaluate(void *engine, void *task, void *node, void *inputs, void *queue)
{
    bool recorded = ml_recorder_in_session();

    if (recorded) {
        struct ml_torch_node n = ml_torch_node(node);
        ml_torch_enter_node(__builtin_frame_address(0), n.tape, n.number, n.operator_name);
    }
    ML_TORCH_REAL(evaluate)(engine, task, node, inputs, queue);
    if (recorded)
        ml_torch_leave_node();
}

void *execute(void *ret, void *engine, const void *roots, const void *inputs, bool keep_graph,
              bool create_graph, bool accumulate, const void *outputs)
{
    bool recorded = ml_recorder_in_session();

    if (recorded)
        ml_torch_enter_backward(__builtin_frame_address(0));
    ret = ML_TORCH_REAL(execute)(ret, engine, roots, inputs, keep_graph, create_graph, accumulate,
                                 outputs);
    if (recorded)
        ml_torch_leave_backward();
    return ret;
}
