/* recorder.h: the recorder in this process, for the parts of the extension that know
 * PyTorch.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_NATIVE_RECORDER_H
#define ML_NATIVE_RECORDER_H

#include "native.h"
#include "recorder_tables.h"

/* The recorder's number of a str; 0 where there is none. No exception is left
 * behind. */
uint32_t ml_native_name(PyObject *text);

#endif
