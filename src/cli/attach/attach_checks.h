/* attach_checks.h: whether a process can be recorded from now on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CLI_ATTACH_CHECKS_H
#define ML_CLI_ATTACH_CHECKS_H

#include <stdbool.h>
#include <sys/types.h>

#include "error.h"

/* @return 0, or negative errno with the reason and the way out */
int ml_attach_check(pid_t pid, struct ml_error *err);

/* Whether no thread of the process runs any more; its parent may not have waited for it yet. */
bool ml_attach_has_ended(pid_t pid);

/* Whether the process has started this command, maybe by way of others. */
bool ml_attach_is_ancestor(pid_t pid);

/* After an attach that found no moment to interrupt the process: says so if the process waits for
 * this very command, so that another try would fail too. */
void ml_attach_explain_wait(pid_t pid, struct ml_error *err);

/* Whether it is a Python program, or contains Python. */
bool ml_target_has_python(pid_t pid);

/* Whether the process sees /proc, where the recorder looks for the pages that it may change.
 * @return 0 or negative errno with an explanation */
int ml_attach_check_proc(pid_t pid, struct ml_error *err);

#endif
