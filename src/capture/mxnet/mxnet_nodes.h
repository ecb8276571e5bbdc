/* mxnet_nodes.h: the nodes of MXNet's graphs as scopes, and whose gradients they compute.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_MXNET_NODES_H
#define ML_MXNET_NODES_H

#include <stdbool.h>

#include "mxnet_exchange.h"

/* As ml_mxnet_storage_feature: what the thread does that asks for operators. */
const struct ml_mxnet_feature *ml_mxnet_nodes_feature(const struct ml_mxnet_layout *layout);

/* nnvm::NodeAttrs, its beginning. */
struct ml_mxnet_node {
    const char *const *op; /* begins with its name */
    const char *name;      /* "" or the operator's: nobody gave it one */
};

/* A scope for a node that has a name of its own; a gradient's is its forward's.
 * @return whether there is one to pop */
bool ml_mxnet_enter_node(const struct ml_mxnet_node *node);

#endif
