/* mxnet_storage.h: what stands in front of MXNet's storage, and records its blocks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_MXNET_STORAGE_H
#define ML_MXNET_STORAGE_H

#include "mxnet_layout.h"

/* The hooks for a layout that was recognised, in the order of enum ml_mxnet_function;
 * they go on to `reals`. NULL where there is none. Once per process. */
void ml_mxnet_storage_hooks(const struct ml_mxnet_layout *layout,
                            void *const reals[ML_MXNET_FUNCTIONS],
                            void *ret_hooks[ML_MXNET_FUNCTIONS]);

#endif
