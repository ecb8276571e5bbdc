/* torch_nodes.h: the numbers and the operator of a node of autograd's graph.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TORCH_NODES_H
#define ML_TORCH_NODES_H

#include <stdint.h>

struct ml_torch_node {
    uint64_t tape;          /* the thread that created it, as PyTorch counts threads */
    uint64_t number;        /* among the nodes of that thread; ML_TORCH_NO_NUMBER: none */
    uint32_t operator_name; /* "AddmmBackward0"; 0: unknown */
};

/* @node  a torch::autograd::Node */
struct ml_torch_node ml_torch_node(const void *node);

#endif
