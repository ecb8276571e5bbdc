/* mxnet_works.h: what threads push to MXNet's threaded engines, which other threads run.
 *
 * The thread that pushes tells the collector that it hands work over, from the scopes that
 * it is in; the thread that runs it tells that it takes it. Nothing is kept here.
 *
 * The engine may gather what is pushed and run it as one ("ImperativeBulk"). Then each of
 * its parts is handed over and taken for itself.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_MXNET_WORKS_H
#define ML_MXNET_WORKS_H

#include <stdbool.h>
#include <stdint.h>

#include "mxnet_exchange.h"

/* As ml_mxnet_storage_feature. */
const struct ml_mxnet_feature *ml_mxnet_works_feature(const struct ml_mxnet_layout *layout);

extern bool ml_mxnet_works_on;

/* This thread begins to run an operator that was pushed: to be popped.
 * @scope  a name for it as a scope, 0: what it does has scopes of its own
 * @return for ml_mxnet_end_work */
uintptr_t ml_mxnet_begin_work(const void *op, const char *name, uint32_t scope);
void ml_mxnet_end_work(uintptr_t outer);

/* A key for what the operator that this thread runs fills; 0: it fills nothing. */
uintptr_t ml_mxnet_result_key(void);

/* Between the two this thread fills arrays with what backward begins with. */
void ml_mxnet_begin_head_gradients(void);
void ml_mxnet_end_head_gradients(void);

#endif
