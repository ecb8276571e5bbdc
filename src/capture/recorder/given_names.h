/* given_names.h: what the program calls its threads and processes.
 *
 * A thread without a ring, and a process that has not started its recorder, get none for the sake
 * of a name: the name waits here for their first record.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_GIVEN_NAMES_H
#define ML_GIVEN_NAMES_H

#include "ring.h"

/* Names the calling thread. The text is copied, and cut if it is long. Any thread, no lock. */
void ml_give_thread_name(const char *text);

/* Says what this process is among several; its forked children are the same until they say
 * something else. One thread at a time. */
void ml_give_process_role(const char *text);

/* Says where this process is in a distributed job, "rank=3 world_size=8 dp=1", which replaces what
 * its launcher said of these keys. It is the same in forked children. One thread at a time. */
void ml_give_process_place(const char *text);

/* For a ring that the calling thread has claimed, before the collector sees it, and for the first
 * ring set of a process. */
void ml_given_to_ring(struct ml_ring *ring);
void ml_given_to_set(struct ml_ringset *set);

#endif
