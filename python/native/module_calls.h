/* module_calls.h: the module that a thread is in.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_MODULE_CALLS_H
#define ML_MODULE_CALLS_H

#include "native.h"

/* The path of the innermost module that this thread is in, a borrowed str; NULL: in none, or in an
 * outermost one. */
PyObject *ml_module_calls_innermost(void);

#endif
