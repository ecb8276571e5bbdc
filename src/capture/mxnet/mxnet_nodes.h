/* mxnet_nodes.h: the nodes of MXNet's graphs as scopes, and the nodes whose gradients they compute.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_MXNET_NODES_H
#define ML_MXNET_NODES_H

#include <stdbool.h>

/* The beginning of nnvm::NodeAttrs. */
struct ml_mxnet_node {
    const char *const *op; /* begins with its name */
    const char *name;      /* "" or the operator's if the program gave none */
};

/* Pushes a scope for a node that has a name; for a gradient, that of its forward node.
 * @return whether there is a scope to pop */
bool ml_mxnet_enter_node(const struct ml_mxnet_node *node);

#endif
