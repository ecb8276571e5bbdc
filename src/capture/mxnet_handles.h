/* mxnet_handles.h: which of the recorder's objects stands for which of MXNet's profiler.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_MXNET_HANDLES_H
#define ML_MXNET_HANDLES_H

#include "memledger/memledger.h"

/* MXNet gave `handle` to an object: what had it before is forgotten. Objects beyond the
 * first 49152 at a time are not kept. Any thread; allocates nothing but pages. */
void ml_mxnet_handle_put(const void *handle, memledger_object object);

/* 0: none is known. */
memledger_object ml_mxnet_handle_get(const void *handle);

/* The same, and forgets it. */
memledger_object ml_mxnet_handle_take(const void *handle);

#endif
