/* mxnet_patch.h: MXNet in a process that the recorder came late to.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_MXNET_PATCH_H
#define ML_MXNET_PATCH_H

#include <stdbool.h>

/* Leads MXNet's library to the hooks that it finds by itself where they stand in front.
 * May be called again. Keeps errno. @return whether MXNet is there */
bool ml_mxnet_patch(void);

#endif
