/* recorder.h: the recorder of one process: its session, its ring sets.
 *
 * The recorder starts itself with the first record or when the library is
 * loaded, whichever comes first, and again by itself in a forked child. It
 * never ends: rings lie in shared memory, so there is nothing to write out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_RECORDER_H
#define ML_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "lock.h"
#include "record.h"
#include "ring.h"

/* The session page, NULL while not recording. Outlives forks. */
extern _Atomic(struct ml_session *) ml_session;

/* The session's, copied and checked when it was opened: other processes can write
 * to the page. Ring sets have this much, or less; see set_shape.h. */
extern _Atomic uint32_t ml_ring_bytes;
extern _Atomic uint32_t ml_ring_count;

/* What stacks a framework's blocks shall have: enum ml_stacks_mode; copied too. */
extern uint32_t ml_stacks_mode;

/* How many recordings a process can join, one after the other. */
#define ML_RECORDINGS_MAX 1000

extern _Atomic uint32_t ml_recording;

/* The number of the recording that goes on; 0: none does. */
static inline uint32_t ml_recorder_recording(void)
{
    return atomic_load_explicit(&ml_recording, memory_order_acquire);
}

/* Whether it began when the process was under way. */
bool ml_recorder_is_late(void);

/* Makes this process known to the collector; cheap once done. Returns whether
 * there is a ring set to record into. Async-signal-safe, keeps errno. */
bool ml_recorder_start(void);

/* Whether there is a session, recorded into or not. What cannot be recorded is
 * counted then, and names are kept for when it can. */
bool ml_recorder_in_session(void);

/* The session's clock (enum ml_clock), which a thread may be unable to read: see
 * ml_clock_usable. */
uint32_t ml_recorder_clock(void);

/* Whether this is a child of vfork, which uses its parent's memory. */
bool ml_recorder_is_anothers(void);

/* A ring that nobody uses, now this thread's; NULL when there is none to be
 * had. *ret_data are its words, whose number is in the writer's mask. */
struct ml_ring *ml_recorder_claim(uint64_t **ret_data, struct ml_writer **ret_writer);

/* Joins the session in that directory, in a process that is not recorded.
 * @return 0; -EBUSY: it is recorded; -ENOSPC: it was too often; -EPERM: it is in a sandbox;
 *         -EIO: the session is not to be had */
int ml_recorder_join(const char *session_dir);

/* Ends a recording that was joined, and tells its collector to finish. What threads
 * record from here on is dropped, unlike what they recorded before. A child that was forked
 * in one leaves it: the end is its parent's business.
 * @return 0; -ESRCH: there is none */
int ml_recorder_leave(void);

/* Gives the memory of rings back that nobody reads any more. */
void ml_recorder_drop_rings(void);

/* For the name tables, for those of stacks and of Python stacks. Cleared in a forked
 * child, like all that is here. */
struct ml_lock *ml_recorder_names_lock(void);
struct ml_lock *ml_recorder_stacks_lock(void);
struct ml_lock *ml_recorder_python_lock(void);

/* In a forked child, once, tells the collector the names that the parent had
 * given; else nothing. Called with a ring in hand. */
void ml_recorder_announce(void);

/* A record that defines a name was dropped; and, when there is room again,
 * tells all names once more. The second is cheap when there is nothing to do. */
void ml_recorder_names_dropped(void);
void ml_recorder_announce_again(void);

/* Where to count records that no ring could take; NULL outside a session. */
_Atomic uint64_t *ml_recorder_lost(void);

/* Something has begun whose end will not be recorded, since a table has no room for it:
 * counted for the trace to tell. Keeps errno. */
void ml_recorder_cannot_follow(void);

/* The same for a use of a name that the table has no room for, and for a space that is one
 * too many. */
void ml_recorder_name_folded(void);
void ml_recorder_space_refused(void);
void ml_recorder_detail_lost(void);

/* Wakes this process's threads that wait for the collector: for room, or for a reply. */
void ml_recorder_wake_threads(void);

/* The ring set that replies come back in, and that has what the process says of itself; NULL
 * while not recording. */
struct ml_ringset *ml_recorder_first_set(void);

/* Copies what the reply there begins with. False: there is no room to see it.
 * Precondition: ml_recorder_first_set() gave a set. Changes errno. */
bool ml_recorder_read_reply(char *to, size_t bytes);

/* Zeroed memory that a forked child sees zeroed again; NULL when there is none to
 * be had. For a few large tables, never given back. */
void *ml_recorder_map_wiped(size_t bytes);

#endif
