/* mxnet_real.h: MXNet's own functions, which the hooks wrap.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_MXNET_REAL_H
#define ML_MXNET_REAL_H

/* The function of that name in MXNet's library, otherwise the one that `caller`, an address in the
 * code that called the hook, would find; NULL: there is only the hook. Takes the loader's lock.
 * Keeps errno. */
void *ml_mxnet_real(const char *symbol, const void *hook, const void *caller);

#endif
