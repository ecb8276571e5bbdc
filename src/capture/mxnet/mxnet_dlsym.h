/* mxnet_dlsym.h: MXNet's functions that are hooked by name: their hooks, how callers find them, and
 * the functions that they wrap.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_MXNET_DLSYM_H
#define ML_MXNET_DLSYM_H

#include "dlsym_hook.h"

/* The hook on a function that MXNet's own library calls by name; NULL: it has none. */
void *ml_mxnet_hook_of(const char *symbol);

/* The same for those of mxnet_begin.c, and for those of mxnet_calls.c. */
void *ml_mxnet_begin_hook_of(const char *symbol);
void *ml_mxnet_call_hook_of(const char *symbol);

/* Look-ups of those functions, and of the C functions that are hooked. */
extern const struct ml_dlsym_provider ml_mxnet_dlsym;
extern const struct ml_dlsym_provider ml_mxnet_c_dlsym;

/* The function of that name in MXNet's library, otherwise the one that `caller`, an address in the
 * code that called the hook, would find; NULL: there is only the hook. Takes the loader's lock.
 * Keeps errno. */
void *ml_mxnet_real(const char *symbol, const void *hook, const void *caller);

/* The same for a function that has no hook, looked up once.
 * @known  static; NULL: not looked up yet */
void *ml_mxnet_function(void **known, const char *symbol);

#endif
