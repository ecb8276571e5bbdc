/* profiler_result.h: what the parts of the extension that pass profiler calls on have
 * in common.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_PROFILER_RESULT_H
#define ML_PROFILER_RESULT_H

#include "native.h"
#include "recorder_tables.h"

/* What a refused call raises: MXNet's own class where MXNet is loaded, since its callers
 * catch that, else RuntimeError. @return a new reference */
PyObject *ml_profiler_error_class(void);

/* Sets the exception that says why the recorder refused this thread's last call.
 * @return NULL */
PyObject *ml_profiler_refuse(const struct memledger_api *api);

/* None for 0, else as above. */
PyObject *ml_profiler_result(const struct memledger_api *api, int result);

#endif
