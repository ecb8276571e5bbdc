/* sandboxed.h: processes in a seccomp sandbox, as the collector sees them.
 *
 * The recorder notices most of them by itself. A program that installs its filter without
 * libc's functions is noticed here, from its /proc/PID/status; the ring set then carries
 * the news to its recorder, which makes no system calls from then on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_SANDBOXED_H
#define ML_SANDBOXED_H

#include <stdbool.h>

#include "ring.h"
#include "target.h"

/* Checks whether the process's first thread has more filters than the launcher had. */
void ml_target_check_sandbox(struct ml_target *t, struct ml_session *page);

/* Frees the entries of a process that has ended, by its pid in its own namespace. */
void ml_session_forget_spared(struct ml_session *page, uint32_t pid);

/* The number of words read from its open rings. */
uint64_t ml_target_words_read(const struct ml_target *t);

/* Whether the recorder makes no system calls in it, so that it does not wake the collector when
 * a ring fills. */
bool ml_target_in_sandbox(const struct ml_target *t);

#endif
