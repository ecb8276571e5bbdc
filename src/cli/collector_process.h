/* collector_process.h: what the commands that record share: the process that
 * collects, and what it starts from.
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
 * Opening can take for ever where a file system hangs; a signal that asks us to end then
 * ends the child.
 * @return 0, -EINTR, or what the child has met */
int ml_collector_start(const struct ml_collector_opts *opts, struct ml_session_dir *session,
                       const struct ml_ticks *ticks, struct ml_launch *l, pid_t *ret_pid,
                       struct ml_error *err);

/* Waits for the collector, which has been told to finish. When that takes seconds, says
 * on stderr what is waited for. A signal that asks us to end gives the collector one
 * second more, a second signal none. A collector that shows no sign of life, as when its disk
 * hangs, is waited for half a minute.
 * @ret_status  as waitpid() gave it
 * @return whether it has ended; if not, it goes on without us */
bool ml_collector_wait(struct ml_launch *l, pid_t collector, const char *trace,
                       const struct ml_session *page, int *ret_status);

/* This process collects, apart from terminal and standard streams, and ends. If
 * `launcher` is not its parent by then, the session is nobody else's to remove. */
noreturn void ml_be_collector(struct ml_collector *collector, struct ml_session_dir *session,
                              pid_t launcher);

#endif
