/* mxnet_storage.h: wraps MXNet's storage and records its blocks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_MXNET_STORAGE_H
#define ML_MXNET_STORAGE_H

#include "mxnet_exchange.h"

/* The hooks for an identified layout. Once per process. */
const struct ml_mxnet_feature *ml_mxnet_storage_feature(const struct ml_mxnet_layout *layout);

#endif
