/* calling_function.h: the function of the program that called a model.
 *
 * It goes on with the results outside of all modules, usually to compute the loss. The memory of
 * that, and of its part of the graph, has the function's name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CALLING_FUNCTION_H
#define ML_CALLING_FUNCTION_H

#include "native.h"

/* An outermost module has returned the result to its caller. Does nothing if the result has no
 * graph. An interrupt that arrives meanwhile stays set. */
void ml_calling_function_enter(PyObject *result);

#endif
