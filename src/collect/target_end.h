/* target_end.h: when and how a process ended that is not our child.
 *
 * A process that calls exit() leaves its time and code in its ring set. For one that was killed the
 * kernel reports the signal, as long as the process is a zombie, or through its pidfd
 * (Linux 6.15). Otherwise the end is unknown.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TARGET_END_H
#define ML_TARGET_END_H

#include <stdbool.h>
#include <stdint.h>

#include "stage.h"

/* A time that others know. */
static inline void ml_target_end_at(struct ml_target *t, uint64_t ticks, uint64_t ns)
{
    t->end_ticks = ticks;
    t->end_ns = ns;
}

/* Whether the process has said, within the last second in which it was seen alive, that it exits.
 */
bool ml_target_is_ending(const struct ml_stage *stage, const struct ml_target *t);

/* Sets end_ticks and end_ns of a process that is dead, before `found_ticks`, and whose ring sets
 * have all arrived. The end is no earlier than the last record and the last time that it was seen
 * alive, and, if the process did not record it, as late as it was found. */
void ml_target_find_end(const struct ml_stage *stage, struct ml_target *t, uint64_t found_ticks);

/* Moves an end that was only found to `ticks`, when a process began for which this one may have
 * made room, or as near as its records and the last time that it was seen alive permit. The end of
 * one that recorded it, or was replaced, is known and stays. */
void ml_target_end_before(const struct ml_stage *stage, struct ml_target *t, uint64_t ticks);

/* 1 + the status of waitpid() for a dead process, from the kernel; 0: unknown. Ask
 * as soon as the process is found dead. */
uint64_t ml_target_kernel_status(const struct ml_target *t);

/* The same, else from the process's own record. Precondition: its end has been found. */
uint64_t ml_target_exit_status(const struct ml_target *t);

#endif
