/* older_memory.h: the end of the report of older memory, in the trace.
 *
 * A recording that joins a running process begins with allocations of memory that is older. A mark
 * follows them, so that no reader takes them for growth. A process stores the time in the session
 * page: a record would need a ring for the thread that attaches, which is none of the program's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_OLDER_MEMORY_H
#define ML_OLDER_MEMORY_H

struct ml_collector;

/* Call in each round, before its records are taken. */
void ml_collector_take_older(struct ml_collector *c);

#endif
