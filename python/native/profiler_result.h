/* profiler_result.h: results and exceptions shared by the parts of the extension that forward
 * profiler calls.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_PROFILER_RESULT_H
#define ML_PROFILER_RESULT_H

#include "native.h"
#include "recorder_tables.h"

/* The class of a failed call's exception: MXNet's own if MXNet is loaded, because its callers
 * catch that, else RuntimeError. @return a new reference */
PyObject *ml_profiler_error_class(void);

/* Sets an exception with the reason why this thread's last call failed.
 * @return NULL */
PyObject *ml_profiler_refuse(const struct memledger_api *api);

/* None for 0, else as above. */
PyObject *ml_profiler_result(const struct memledger_api *api, int result);

#endif
