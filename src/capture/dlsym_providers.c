/* dlsym_providers.c: the rooms that the hook on dlsym asks: see dlsym_hook.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "dlsym_hook.h"

#include <stddef.h>

#include "cuda_resolve.h"
#include "python_dlsym.h"
#include "torch_real.h"
#if ML_WITH_MXNET
#include "mxnet_dlsym.h"
#endif

const struct ml_dlsym_provider *const ml_dlsym_providers[] = {
    &ml_cuda_dlsym,
    &ml_python_dlsym,
    &ml_torch_dlsym,
#if ML_WITH_MXNET
    &ml_mxnet_dlsym,
    &ml_mxnet_c_dlsym,
#endif
    NULL,
};
