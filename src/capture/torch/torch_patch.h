/* torch_patch.h: puts PyTorch's hooks in place in a process that loaded PyTorch
 * without them: one that the recorder was not preloaded into.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TORCH_PATCH_H
#define ML_TORCH_PATCH_H

#include <stdbool.h>

/* Leads all libraries loaded so far to the hooks; may be called again after others
 * were loaded. Nothing where the hooks stand in front by themselves. Keeps errno.
 * @return whether PyTorch is there and has hooks */
bool ml_torch_patch(void);

#endif
