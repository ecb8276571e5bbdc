/* lifetime_events.h: threads that begin, are named and end, and processes that end, in the
 * trace.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_LIFETIME_EVENTS_H
#define ML_LIFETIME_EVENTS_H

#include "stage.h"

/* The ring has a new thread: gives it a number. */
void ml_source_open(struct ml_stage *stage, struct ml_source *s);

/* The name that the program has given the thread, if it is new. */
void ml_source_note_name(struct ml_stage *stage, struct ml_source *s);

/* The ring's thread has ended and everything is read. */
void ml_source_close(struct ml_stage *stage, struct ml_source *s);

/* The process has ended, after its last event and after it was last seen. The
 * status is 1 + that of waitpid(), 0: unknown. */
void ml_target_note_end(struct ml_stage *stage, struct ml_target *t, uint64_t status);

#endif
