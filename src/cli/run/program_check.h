/* program_check.h: whether a program can be recorded at all.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_PROGRAM_CHECK_H
#define ML_PROGRAM_CHECK_H

#include <stdbool.h>

#include "error.h"

/* Finds `name` the way execvp does; the path, at most PATH_MAX bytes, goes to
 * `ret`. Returns 0, -ENOENT or -EACCES. */
int ml_program_find(const char *name, char *ret, struct ml_error *err);

/* NULL if the program at `path` (or the interpreter that its first line names) can
 * be recorded, as far as is known; else why not, as a sentence.
 * *ret_foreign: it is for another architecture, or has 32 bits, and its loader would
 * complain about the recorder. */
const char *ml_program_obstacle(const char *path, bool *ret_foreign);

#endif
