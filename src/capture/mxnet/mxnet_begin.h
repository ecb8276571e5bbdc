/* mxnet_begin.h: the hooks by which MXNet is noticed.
 *
 * Every operator of MXNet begins with mxnet::Engine::Get(), every allocation with
 * mxnet::Storage::Get(), which its library calls by name: so the recorder is there
 * before the first, in Python and in C. The first call looks which MXNet it is, and puts
 * the other hooks in place, or leaves it alone for good and says so.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_MXNET_BEGIN_H
#define ML_MXNET_BEGIN_H

#include "mxnet_entries.h"

/* The hook of that name; NULL: it has none. */
void *ml_mxnet_begin_hook_of(const char *symbol);

#endif
