/* ended_processes.h: finds processes that have ended, and removes them in the order of their ends.
 *
 * A process ends in three steps. It is found dead, but hellos that it sent may still be in the
 * socket. Once these are read it is marked as gone, with the time of its end (target_end.h). It is
 * removed when all records up to that time are in the trace, and before any later one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ENDED_PROCESSES_H
#define ML_ENDED_PROCESSES_H

#include "collector_impl.h"

/* Whether processes are to be checked in this round. True at most every two milliseconds, unless a
 * process has said that it exits, or one waits for the end of another. */
bool ml_collector_is_time_to_find_dead(struct ml_collector *c);

/* Checks which targets still run. */
void ml_collector_find_dead(struct ml_collector *c);

/* Marks the dead whose messages have all been read: the socket was read since they were found. */
void ml_collector_mark_ended(struct ml_collector *c);

/* Takes the records of targets that ended before `until`, writes their ends and removes them. */
void ml_collector_remove_ended(struct ml_collector *c, uint64_t until);

/* The same for those that ended before a new process said hello. */
void ml_collector_remove_ended_before(struct ml_collector *c, const struct ml_hello *hello);

/* Whether a process ended after this round's clock reading: the next round removes it. */
bool ml_collector_end_is_due(const struct ml_collector *c);

/* Whether a process waits for its turn on a GPU, or for the end of one that had memory there. */
bool ml_collector_end_is_awaited(const struct ml_collector *c);

#endif
