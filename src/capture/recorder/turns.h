/* turns.h: pausing and resuming a recording from outside.
 *
 * The session page has a number that `memledger pause` and `memledger resume` raise; it is odd
 * while the recording is paused. Each record compares it with the number at which this process
 * records.
 *
 * While the recording is paused, blocks of malloc are not followed: the hooks call the real
 * function and nothing else, and the collector closes those blocks in the trace. All other blocks
 * are rare enough to be followed through the pause. An allocation goes into a table here instead of
 * the ring. The free of a block in the table removes it, the free of any other block is recorded.
 * The first thread that records something afterwards records the blocks that are left in the table.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TURNS_H
#define ML_TURNS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler.h"

struct ml_session;

/* Of the session page; set before the process has a ring. */
extern const _Atomic uint32_t *_Atomic ml_turn;
/* The turn in which this process records: even; odd when it has left the recording. */
extern _Atomic uint32_t ml_turn_taken;

/* The turn of the session. Another thread may join one meanwhile. */
static ML_ALWAYS_INLINE uint32_t ml_turn_now(void)
{
    return atomic_load_explicit(atomic_load_explicit(&ml_turn, memory_order_relaxed),
                                memory_order_relaxed);
}

/* Whether the recording is paused. Precondition: the recorder has started. */
static ML_ALWAYS_INLINE bool ml_turn_is_paused(void)
{
    return ml_turn_now() & 1;
}

/* Whether this process records, and has recorded the blocks of the last pause. Precondition: the
 * same. Pairs with the release in ml_turns_resume. */
static ML_ALWAYS_INLINE bool ml_turn_is_current(void)
{
    return ml_turn_now() == atomic_load_explicit(&ml_turn_taken, memory_order_acquire);
}

/* A session was opened or joined. */
void ml_turns_begin(const struct ml_session *session);

/* The process leaves it: from now on ml_turn_is_current is false, in all threads at once. */
void ml_turns_end(void);

/* What becomes of a record while ml_turn_is_current is false. */
enum ml_turns_fate {
    ML_TURNS_RECORD, /* it is recorded all the same */
    ML_TURNS_KEPT,   /* the table has what it says */
    ML_TURNS_SCOPE,  /* a push or pop, which is dropped and must balance */
    ML_TURNS_DROP,
};

/* Precondition: this thread is inside a record, or receives no signals. Keeps errno. */
enum ml_turns_fate ml_turns_take(const uint64_t *words, unsigned n);

/* Records the blocks of the table, if the recording was resumed and no other thread has done so.
 * Precondition: this thread has a ring, is not inside a record, and receives no signals. */
void ml_turns_resume(void);

/* Whether this thread is inside ml_turns_resume: its records go into the ring. */
bool ml_turns_resuming(void);

#endif
