/* recorder.h: the recorder in this process, for the parts of the extension that handle PyTorch.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_NATIVE_RECORDER_H
#define ML_NATIVE_RECORDER_H

#include "native.h"
#include "recorder_tables.h"

/* The recorder's number of a str; 0 if there is none. Leaves no exception set. */
uint32_t ml_native_name(PyObject *text);

#endif
