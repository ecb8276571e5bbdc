/* mxnet_features.h: the parts of MXNet that are hooked, each in the file of its name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_MXNET_FEATURES_H
#define ML_MXNET_FEATURES_H

#include "mxnet_exchange.h"

/* The hooks of each for an identified layout. Once per process. NULL: this version has no such
 * part, which is so for pools, symbolic and bind only. */
const struct ml_mxnet_feature *ml_mxnet_storage_feature(const struct ml_mxnet_layout *layout);
const struct ml_mxnet_feature *ml_mxnet_pools_feature(const struct ml_mxnet_layout *layout);
const struct ml_mxnet_feature *ml_mxnet_outputs_feature(const struct ml_mxnet_layout *layout);

/* The engines, and the operators that are pushed to them. */
const struct ml_mxnet_feature *ml_mxnet_operators_feature(const struct ml_mxnet_layout *layout);
const struct ml_mxnet_feature *ml_mxnet_works_feature(const struct ml_mxnet_layout *layout);

/* The thread that asks for operators; nodes of planned graphs, and the executors of symbols. */
const struct ml_mxnet_feature *ml_mxnet_nodes_feature(const struct ml_mxnet_layout *layout);
const struct ml_mxnet_feature *ml_mxnet_executors_feature(const struct ml_mxnet_layout *layout);
const struct ml_mxnet_feature *ml_mxnet_symbolic_feature(const struct ml_mxnet_layout *layout);

/* Arrays that are bound to symbols, or read from files of parameters. */
const struct ml_mxnet_feature *ml_mxnet_bind_feature(const struct ml_mxnet_layout *layout);
const struct ml_mxnet_feature *
ml_mxnet_parameter_files_feature(const struct ml_mxnet_layout *layout);

#endif
