/* target_filters.h: whether a process's seccomp filters leave the recorder alone.
 *
 * Engines put every process of a container under a filter. The kernel hands the filters of a
 * stopped thread to root (PTRACE_SECCOMP_GET_FILTER), and filter_verdict.h runs them for each
 * system call that the recorder makes, and that loading it takes. Threads may have different
 * filters, so each of them is stopped for a moment.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TARGET_FILTERS_H
#define ML_TARGET_FILTERS_H

#include <stdbool.h>
#include <sys/types.h>

#include "error.h"

/* Filters that this process has, too, do not count. As for ml_inject, call it in a process that
 * ends soon afterwards.
 * @return 0; -EPERM: a filter does harm, or cannot be read, as err explains; another negative errno
 */
int ml_target_filters_check(pid_t pid, struct ml_error *err);

/* Whether a thread of the process has filters that this process does not have. Stops no thread. */
bool ml_target_has_filters(pid_t pid);

#endif
