/* recorded_session.h: the session of a process that is being recorded.
 *
 * All processes of a recording map the session page: the recorded ones, the collector, and
 * `memledger run`. The kernel lists a process's mappings with their paths.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CLI_RECORDED_SESSION_H
#define ML_CLI_RECORDED_SESSION_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "error.h"
#include "ring.h"

struct ml_recorded_session {
    struct ml_session *page; /* mapped; NULL: none */
    char folder[PATH_MAX];   /* as the process names it */
};

/* @change  the page is mapped for writing, too
 * @return 0, to be released; -ESRCH: the process is not being recorded or does not exist; -EACCES:
 *         it belongs to another user; -EPROTO: it is recorded by another version */
int ml_recorded_session_open(pid_t pid, bool change, struct ml_recorded_session *ret,
                             struct ml_error *err);

/* The same with the page's file. @return 0; -ESRCH: it is the page of no recording that goes on;
 *         -EPROTO */
int ml_recorded_session_map(int fd, bool change, struct ml_recorded_session *ret);
void ml_recorded_session_release(struct ml_recorded_session *s);

/* Wakes the collector. */
void ml_recorded_session_ring(struct ml_session *page);

/* Makes the collector complete the trace. Processes that are still recorded go on; their recorders
 * find out. */
void ml_recorded_session_finish(struct ml_session *page);

#endif
