/* mxnet_cached.h: names the arrays that a program in C or C++ passes to a CachedOp, and their
 * gradients. Python has its own names, see mxnet_bind.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_MXNET_CACHED_H
#define ML_MXNET_CACHED_H

/* The hook of that name; NULL: it has none. */
void *ml_mxnet_cached_hook_of(const char *symbol);

#endif
