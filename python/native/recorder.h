/* recorder.h: the recorder in this process, for the parts of the extension.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_NATIVE_RECORDER_H
#define ML_NATIVE_RECORDER_H

#include "extension_api.h"
#include "native.h"

/* NULL where there is none. */
const struct ml_extension_api *ml_native_recorder(void);

/* The recorder's number of a str; 0 where there is none. No exception is left
 * behind. */
uint32_t ml_native_name(PyObject *text);

#endif
