/* mxnet_patch.h: MXNet in a process that the recorder was loaded into late.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_MXNET_PATCH_H
#define ML_MXNET_PATCH_H

#include <stdbool.h>

/* Points MXNet's library at the hooks that it finds without help in a preloaded process. May be
 * called again. Keeps errno. @return whether MXNet is loaded */
bool ml_mxnet_patch(void);

#endif
