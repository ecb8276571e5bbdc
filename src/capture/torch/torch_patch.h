/* torch_patch.h: puts PyTorch's hooks in place in a process that loaded PyTorch without them,
 * because the recorder was not preloaded.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TORCH_PATCH_H
#define ML_TORCH_PATCH_H

#include <stdbool.h>

/* Points all libraries loaded so far at the hooks; may be called again after others were loaded.
 * Does nothing if the libraries find the hooks without help. Keeps errno.
 * @return whether PyTorch is loaded and has hooks */
bool ml_torch_patch(void);

#endif
