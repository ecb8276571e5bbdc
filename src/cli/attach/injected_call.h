/* injected_call.h: makes a process call a function of the recorder.
 *
 * A child of this process does it, so that the kernel lets go of the process whatever happens to
 * us.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CLI_INJECTED_CALL_H
#define ML_CLI_INJECTED_CALL_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "error.h"
#include "inject.h"

/* @return 0 with what the function returned, or negative errno with an explanation */
int ml_injected_call(pid_t pid, const struct ml_injection *what, int32_t *ret_value,
                     struct ml_error *err);

/* The same for a system call; the value is its result. */
int ml_injected_syscall(pid_t pid, const struct ml_injected_syscall *call, int32_t *ret_value,
                        struct ml_error *err);

/* The recorder that the process has loaded, under the name that the process knows it by.
 * @return false: none */
bool ml_injected_recorder(pid_t pid, char ret[PATH_MAX]);

#endif
