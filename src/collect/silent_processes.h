/* silent_processes.h: processes without a recorder, found through /proc.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_SILENT_PROCESSES_H
#define ML_SILENT_PROCESSES_H

#include "collector_impl.h"

/* Adds a process as if it had said hello.
 * @how  enum ml_process_how */
void ml_collector_add_silent(struct ml_collector *c, uint32_t pid, uint32_t parent_pid,
                             uint32_t how, const char *command);

/* Adds the descendants of all targets. */
void ml_collector_find_children(struct ml_collector *c);

/* Counts, in c->silent, processes of the session that have just been started or run without the
 * recorder. */
void ml_collector_count_silent(struct ml_collector *c);

#endif
