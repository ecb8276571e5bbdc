/* mxnet_operators.h: MXNet's operators as scopes on the thread that runs them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_MXNET_OPERATORS_H
#define ML_MXNET_OPERATORS_H

#include <stdint.h>

/* The number of an operator's name; 0: it has none, and is no scope. */
uint32_t ml_mxnet_operator_number(const char *name);

/* The name of the operator that an engine last began to run on this thread; 0: none. */
extern __thread uint32_t ml_mxnet_operator_name;

#endif
