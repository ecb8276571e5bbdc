/* recorder.h: the recorder of one process: its session, its ring sets.
 *
 * The recorder starts with the first record or when the library is loaded, whichever comes first,
 * and again in a forked child. It never ends: the rings are in shared memory, so there is nothing
 * to write out.
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

/* Copied from the session and checked when it was opened: other processes can write to the page.
 * Ring sets have this much or less; see set_shape.h. */
extern _Atomic uint32_t ml_ring_bytes;
extern _Atomic uint32_t ml_ring_count;

/* Which stacks a framework's blocks get: enum ml_stacks_mode; a copy too. */
extern uint32_t ml_stacks_mode;

/* How many recordings a process can join, one after another. */
#define ML_RECORDINGS_MAX 1000

extern _Atomic uint32_t ml_recording;

/* The number of the current recording; 0: there is none. */
static inline uint32_t ml_recorder_recording(void)
{
    return atomic_load_explicit(&ml_recording, memory_order_acquire);
}

/* Whether it began while the process was already running. */
bool ml_recorder_is_late(void);

/* Announces this process to the collector; cheap once done. Returns whether there is a ring set to
 * record into. Async-signal-safe, keeps errno. */
bool ml_recorder_start(void);

/* Whether there is a session, even if it cannot be recorded into now. Events that cannot be
 * recorded are then counted, and names are kept for later. */
bool ml_recorder_in_session(void);

/* The session's clock (enum ml_clock). Not every thread can read it: see ml_clock_usable. */
uint32_t ml_recorder_clock(void);

/* Whether this is a child of vfork, which uses its parent's memory. */
bool ml_recorder_is_anothers(void);

/* Claims an unused ring for this thread; NULL when there is none. *ret_data are its words, whose
 * number is in the writer's mask. */
struct ml_ring *ml_recorder_claim(uint64_t **ret_data, struct ml_writer **ret_writer);

/* Joins the session in that directory, in a process that is not being recorded.
 * @return 0; -EBUSY: it is being recorded; -ENOSPC: it has joined too many; -EPERM: it is in a
 *         sandbox; -EPROTO: the session is of another version; -EIO: it cannot be opened */
int ml_recorder_join(const char *session_dir);

/* Marks the end of the memory that is older than the recording.
 * Precondition: the records were made. */
void ml_recorder_mark_older(void);

/* Ends a joined recording and asks its collector to finish. Records that threads make from here on
 * are dropped; earlier ones are kept. A child that was forked during a recording only leaves it:
 * its parent ends it.
 * @return 0; -ESRCH: there is no recording */
int ml_recorder_leave(void);

/* Releases the memory of rings that the collector no longer reads. */
void ml_recorder_drop_rings(void);

/* The lock of the tables of names, stacks and Python stacks. Cleared in a forked child, like all
 * state here. */
struct ml_lock *ml_recorder_names_lock(void);
struct ml_lock *ml_recorder_stacks_lock(void);
struct ml_lock *ml_recorder_python_lock(void);

/* In a forked child, once, sends the collector the names that the parent had numbered; otherwise
 * does nothing. Precondition: the thread has a ring. */
void ml_recorder_announce(void);

/* The first notes that a record which defines a name was dropped. The second announces all names
 * again when there is room; it is cheap when there is nothing to do. */
void ml_recorder_names_dropped(void);
void ml_recorder_announce_again(void);

/* Counter of records that no ring could take; NULL outside a session. */
_Atomic uint64_t *ml_recorder_lost(void);

/* Counts an object whose end will not be recorded, because a table has no room for it; the trace
 * shows the number. Keeps errno. */
void ml_recorder_cannot_follow(void);

/* The same for a use of a name that the table has no room for, and for a space beyond the limit. */
void ml_recorder_name_folded(void);
void ml_recorder_space_refused(void);
void ml_recorder_detail_lost(void);

/* Wakes this process's threads that wait for the collector, for room or for a reply. */
void ml_recorder_wake_threads(void);

/* The ring set that receives replies and has what the process says about itself; NULL while not
 * recording. */
struct ml_ringset *ml_recorder_first_set(void);

/* Copies the beginning of the reply. False: there is no address space to map it. Precondition:
 * ml_recorder_first_set() returned a set. Changes errno. */
bool ml_recorder_read_reply(char *to, size_t bytes);

/* Zeroed memory that a forked child sees zeroed again; NULL when there is none. For a few large
 * tables. Takes no lock. Changes errno. */
void *ml_recorder_map_wiped(size_t bytes);

/* Releases such memory. Changes errno. */
void ml_recorder_unmap_wiped(void *p, size_t bytes);

#endif
