/* fork_lock.h: guards a table that is changed often and that forked children inherit.
 *
 * It has two parts. The lock is in memory that a child sees cleared, so that no child finds it
 * taken by a thread that it does not have. The mark is beside the table and says that a thread is
 * changing it. A child that finds the mark set was created by a raw clone(), or by a fork that did
 * not get the lock, and has a half-finished change. The same holds for a thread whose signal
 * handler left the table by longjmp.
 *
 * No wait is unlimited: the holder may be a thread that forks, while one of the program's fork
 * handlers waits for us. After a wait in vain no thread waits for the lock again until it has been
 * free.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_FORK_LOCK_H
#define ML_FORK_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>

#include "compiler.h"
#include "lock.h"

struct ml_fork_lock {
    struct ml_lock lock;
    _Atomic bool in_vain; /* a thread gave up, and none has held the lock since */
};

enum ml_fork_entry {
    ML_FORK_REFUSED, /* not entered */
    ML_FORK_WHOLE,
    ML_FORK_HALF, /* entered, and the table has a half-finished change */
};

static inline bool ml_fork_lock_wait(struct ml_fork_lock *l)
{
    if (atomic_load_explicit(&l->in_vain, memory_order_relaxed))
        return false;
    if (ml_lock_or_give_up(&l->lock))
        return true;
    atomic_store_explicit(&l->in_vain, true, memory_order_relaxed);
    return false;
}

static ML_ALWAYS_INLINE enum ml_fork_entry ml_fork_lock_enter(struct ml_fork_lock *l,
                                                              bool *changing)
{
    bool half;

    if (ML_UNLIKELY(!ml_lock_at_once(&l->lock)) && !ml_fork_lock_wait(l))
        return ML_FORK_REFUSED;
    atomic_store_explicit(&l->in_vain, false, memory_order_relaxed);
    half = *changing;
    *changing = true;
    /* A child's copy, or this thread's handler, sees the mark before any change. */
    atomic_signal_fence(memory_order_seq_cst);
    return ML_UNLIKELY(half) ? ML_FORK_HALF : ML_FORK_WHOLE;
}

static ML_ALWAYS_INLINE void ml_fork_lock_leave(struct ml_fork_lock *l, bool *changing)
{
    atomic_signal_fence(memory_order_seq_cst);
    *changing = false;
    ml_unlock(&l->lock);
}

#endif
