/* recorder_path.h: finds the library to preload, beside the command.
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

#endif
