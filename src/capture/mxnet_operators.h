/* mxnet_operators.h: MXNet's operators as scopes on the thread that runs them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_MXNET_OPERATORS_H
#define ML_MXNET_OPERATORS_H

#include "mxnet_layout.h"

/* As ml_mxnet_storage_hooks, for the engines. */
void ml_mxnet_operator_hooks(const struct ml_mxnet_layout *layout,
                             void *const reals[ML_MXNET_FUNCTIONS],
                             void *ret_hooks[ML_MXNET_FUNCTIONS]);

#endif
