/* mxnet_works.h: operators that threads push to MXNet's threaded engines, and that other threads
 * run.
 *
 * The thread that pushes an operator records that it hands work over, from its current scopes; the
 * thread that runs it records that it takes the work. No state is kept here.
 *
 * The engine may gather several operators and run them as one ("ImperativeBulk"). Then each part is
 * handed over and taken separately.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_MXNET_WORKS_H
#define ML_MXNET_WORKS_H

#include <stdbool.h>
#include <stdint.h>

extern bool ml_mxnet_works_on;

/* This thread begins to run a pushed operator; the caller pops it.
 * @scope  a name for it as a scope, 0: its parts have their own scopes
 * @return for ml_mxnet_end_work */
uintptr_t ml_mxnet_begin_work(const void *op, const char *name, uint32_t scope);
void ml_mxnet_end_work(uintptr_t outer);

/* A key for the array that this thread's operator fills; 0: it fills none. */
uintptr_t ml_mxnet_result_key(void);

/* Between these calls this thread fills arrays with the gradients that backward begins with. */
void ml_mxnet_begin_head_gradients(void);
void ml_mxnet_end_head_gradients(void);

#endif
