/* mxnet_begin.h: the hooks that detect MXNet.
 *
 * Every operator of MXNet begins with mxnet::Engine::Get(), every allocation with
 * mxnet::Storage::Get(), and MXNet's library calls both by name: so the recorder is there before
 * the first, in Python and in C. The first call identifies the build of MXNet and puts the other
 * hooks in place, or leaves MXNet alone for good and says so.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_MXNET_BEGIN_H
#define ML_MXNET_BEGIN_H

#include "mxnet_entries.h"

/* The hook of that name; NULL: it has none. */
void *ml_mxnet_begin_hook_of(const char *symbol);

#endif
