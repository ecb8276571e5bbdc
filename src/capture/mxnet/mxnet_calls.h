/* mxnet_calls.h: the calls of MXNet's C API, as MXNet's profiler has them: a task for
 * each, how many there were, and how many at a time. Only while a profiler runs that
 * wants them: MXNet's, or memledger's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_MXNET_CALLS_H
#define ML_MXNET_CALLS_H

/* The hook of that name; NULL: it has none. */
void *ml_mxnet_call_hook_of(const char *symbol);

#endif
