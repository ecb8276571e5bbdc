/* part_file.h: a temporary file beside its destination, so that the destination is complete or
 * absent.
 *
 *     fd = ml_part_make(path, &part);
 *     ... write it, close it ...
 *     r = ml_part_place(part, path, force);    after a failure `part` is still there
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_BASE_PART_FILE_H
#define ML_BASE_PART_FILE_H

#include <stdbool.h>

#include "error.h"

/* Creates "PATH.XXXXXX", a name that is not taken, readable by its owner only, and its folder if
 * that is missing.
 * @ret_part  the caller frees it
 * @return a descriptor to write to, or negative errno */
int ml_part_make(const char *path, char **ret_part);

/* Renames the part to its destination.
 * @replace  overwrite an existing file
 * @return 0, -EEXIST, or another negative errno */
int ml_part_place(const char *part, const char *path, bool replace);

/* "PATH exists; ...". @return -EEXIST */
int ml_part_exists(const char *path, struct ml_error *err);

#endif
