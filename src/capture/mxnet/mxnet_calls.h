/* mxnet_calls.h: the calls of MXNet's C API, as in MXNet's profiler: a task for each, their number,
 * and the number at a time. Only while a profiler runs that wants them: MXNet's, or memledger's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_MXNET_CALLS_H
#define ML_MXNET_CALLS_H

/* The hook of that name; NULL: it has none. */
void *ml_mxnet_call_hook_of(const char *symbol);

#endif
