/* collector_process.h: the collector's process, for the commands that
 * record.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_COLLECTOR_PROCESS_H
#define ML_COLLECTOR_PROCESS_H

#include <stdnoreturn.h>
#include <sys/types.h>

#include "collector.h"
#include "launch.h"
#include "ring.h"

#define ML_RING_BYTES_DEFAULT (1u << 20)
#define ML_SAMPLE_HZ_DEFAULT 1000

/* A command line in one string, which the caller frees; NULL: no memory. */
char *ml_joined_words(char **argv);

/* Starts a child that opens the trace and collects once `l` has started the program.
 * Opening can take for ever if a file system hangs; a signal that asks us to end then
 * ends the child.
 * @return 0, -EINTR, or the child's error */
int ml_collector_start(const struct ml_collector_opts *opts, struct ml_session_dir *session,
                       const struct ml_ticks *ticks, struct ml_launch *l, pid_t *ret_pid,
                       struct ml_error *err);

/* Waits for the collector after the request to finish. When that takes seconds, says so
 * on stderr. A signal that asks us to end gives the collector one
 * second more, a second signal none. Waits half a minute for a collector that makes no progress,
 * as when its disk hangs.
 * @ret_status  as waitpid() gave it
 * @return whether it has ended; if not, it continues without us */
bool ml_collector_wait(struct ml_launch *l, pid_t collector, const char *trace,
                       const struct ml_session *page, int *ret_status);

/* This process detaches from terminal and standard streams, collects, and ends. If
 * `launcher` is not its parent by then, it removes the session. */
noreturn void ml_be_collector(struct ml_collector *collector, struct ml_session_dir *session,
                              pid_t launcher);

#endif
