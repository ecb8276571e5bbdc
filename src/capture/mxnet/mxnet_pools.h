/* mxnet_pools.h: the memory that the pools of MXNet 2.0 take from the host: rounded up, and kept
 * for later. 1.9.1 has no such pool.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_MXNET_POOLS_H
#define ML_MXNET_POOLS_H

#include "mxnet_exchange.h"

/* As ml_mxnet_storage_feature; NULL: this version has none. */
const struct ml_mxnet_feature *ml_mxnet_pools_feature(const struct ml_mxnet_layout *layout);

#endif
