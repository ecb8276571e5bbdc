/* installed_files.h: finds the files that are installed beside the command: the library to preload,
 * the folder that Python searches first, and the pages of `memledger help`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_INSTALLED_FILES_H
#define ML_INSTALLED_FILES_H

#include <limits.h>

#include "error.h"

/* The recorder `name` ("libmemledger.so") in an installation, a
 * wheel or a build folder, relative to this command. */
int ml_recorder_path(const char *name, char ret[PATH_MAX], struct ml_error *err);

/* The folder with the sitecustomize that loads the Python package; "" if
 * there is none, or none that can be named in PYTHONPATH. */
void ml_bootstrap_path(char ret[PATH_MAX]);

/* The folder with the pages of the documentation, and in it commands/ with a page for each
 * command; "" if there is none. */
void ml_pages_path(char ret[PATH_MAX]);

#endif
