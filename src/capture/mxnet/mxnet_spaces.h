/* mxnet_spaces.h: the spaces of MXNet's blocks, by MXNet's contexts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_MXNET_SPACES_H
#define ML_MXNET_SPACES_H

#include <stdint.h>

/* Device types of mxnet::Context. */
enum { ML_MXNET_CPU = 1, ML_MXNET_GPU = 2, ML_MXNET_CPU_PINNED = 3, ML_MXNET_CPU_SHARED = 5 };

/* The space's number, opened on first use; 0: nothing is recorded, or there is no such
 * device. Keeps errno. */
uint32_t ml_mxnet_space(int device_type, int device_id);

/* The same for the segments of the host's pool. */
uint32_t ml_mxnet_pool_space(void);

#endif
