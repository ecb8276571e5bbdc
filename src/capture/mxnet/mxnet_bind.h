/* mxnet_bind.h: names the arrays that a program in C or C++ binds to a symbol: parameters,
 * gradients, auxiliary states and inputs. Python has its own names: its look-ups do not find these
 * hooks. Its arrays pass the hook for existing arrays, which gives them the same names.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_MXNET_BIND_H
#define ML_MXNET_BIND_H

/* The hook of that name; NULL: it has none. */
void *ml_mxnet_bind_hook_of(const char *symbol);

#endif
