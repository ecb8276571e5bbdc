/* attach_checks.h: whether a process can be recorded from now on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CLI_ATTACH_CHECKS_H
#define ML_CLI_ATTACH_CHECKS_H

#include <sys/types.h>

#include "error.h"

/* @library  the recorder, which the process must find under this path
 * @return 0, or negative errno with the reason and the way out */
int ml_attach_check(pid_t pid, const char *library, struct ml_error *err);

#endif
