/* output_name.h: the trace's file name from a template.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_OUTPUT_NAME_H
#define ML_OUTPUT_NAME_H

#include <sys/types.h>

#include "error.h"

#define ML_OUTPUT_DEFAULT "memledger-%n.%p.mled"

/* Replaces %p (process id), %h (host), %n (program) and %% in `template`; a
 * template that names a directory gets the default name in it. The result is
 * allocated, the caller frees it. */
int ml_output_name(const char *pattern, const char *program, pid_t pid, char **ret,
                   struct ml_error *err);

#endif
