/* recorder_path.h: finds what lies beside the command: the library to preload, and
 * what Python shall find first.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_RECORDER_PATH_H
#define ML_RECORDER_PATH_H

#include <limits.h>

#include "error.h"

/* The recorder `name` ("libmemledger.so"): where an installation, a
 * wheel or a build folder has it, relative to this command. */
int ml_recorder_path(const char *name, char ret[PATH_MAX], struct ml_error *err);

/* The folder with the sitecustomize that brings the Python package along; "" where
 * there is none, or none that can be named in PYTHONPATH. */
void ml_bootstrap_path(char ret[PATH_MAX]);

#endif
