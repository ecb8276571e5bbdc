/* needed_glibc.h: explains that a process has an older glibc than the recorder was built with.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CLI_NEEDED_GLIBC_H
#define ML_CLI_NEEDED_GLIBC_H

#include <sys/types.h>

#include "error.h"

/* Replaces what the loader of the process has said, if that is the reason.
 * @library  the recorder's file here */
void ml_explain_glibc(pid_t pid, const char *library, struct ml_error *err);

#endif
