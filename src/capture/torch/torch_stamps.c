/* torch_stamps.c: see torch_stamps.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "torch_stamps.h"

struct ml_torch_device_stamp ml_torch_device_stamps[ML_CUDA_DEVICES_MAX];
_Atomic uint64_t ml_torch_touched[1u << ML_TORCH_TOUCHED_BITS];
