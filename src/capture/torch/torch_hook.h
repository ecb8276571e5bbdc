/* torch_hook.h: how to write a hook on a function of PyTorch: a function with our name, which the
 * linker knows by PyTorch's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TORCH_HOOK_H
#define ML_TORCH_HOOK_H

#include "torch_real.h"

/* For entry x, of type x_function. */
#define ML_TORCH_DECLARE_HOOK(entry, symbol)                                                       \
    __attribute__((visibility("default"))) entry##_function entry __asm__(#symbol);

/* PyTorch's own function, inside a hook. */
#define ML_TORCH_REAL(entry)                                                                       \
    ((entry##_function *)ml_torch_real(ML_TORCH_##entry, __builtin_return_address(0)))

#endif
