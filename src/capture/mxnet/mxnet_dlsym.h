/* mxnet_dlsym.h: look-ups of MXNet's functions that have hooks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_MXNET_DLSYM_H
#define ML_MXNET_DLSYM_H

#include "dlsym_hook.h"

/* The hook on a function that MXNet's own library calls by name; NULL: it has none. */
void *ml_mxnet_hook_of(const char *symbol);

/* Look-ups of those functions, and of the C functions of MXNet's profiler. */
extern const struct ml_dlsym_provider ml_mxnet_dlsym;
extern const struct ml_dlsym_provider ml_mxnet_profiler_dlsym;

#endif
