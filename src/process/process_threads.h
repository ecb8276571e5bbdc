/* process_threads.h: the threads of another process.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_PROCESS_THREADS_H
#define ML_PROCESS_THREADS_H

#include <stdbool.h>
#include <sys/types.h>

/* Visits the threads of a process, until a visit returns true.
 * @return 1 if one did, else 0; negative errno: the process has ended, or cannot be seen */
int ml_threads_visit(pid_t pid, bool (*visit)(pid_t tid, void *context), void *context);

/* The process that traces the thread, with ptrace; 0: none does. */
pid_t ml_thread_tracer(pid_t tid);

#endif
