/* table_lock.h: guards a table that forked children inherit.
 *
 * A child shall not find an entry half made by another thread of its parent, so the
 * lock is held across fork(); clone() behind libc's back is on its own. No signal
 * handler runs on a thread that is inside: it would find its own thread's lock.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TABLE_LOCK_H
#define ML_TABLE_LOCK_H

#include <pthread.h>
#include <stdbool.h>

#include "lock.h"
#include "sys.h"

struct ml_table_lock {
    struct ml_lock *(*lock)(void); /* lies in memory that a child sees cleared */
    struct ml_quiet during_fork;
    bool locked_for_fork;
};

/* `inside` is the thread's own, and says whether it is in the table. False when the
 * lock was not to be had: a thread that forks holds it while handlers of the
 * program's run, and one of those may wait for this thread. */
static inline bool ml_table_enter(struct ml_table_lock *t, bool *inside, struct ml_quiet *quiet)
{
    ml_quiet_begin(quiet);
    *inside = ml_lock_or_give_up(t->lock());
    if (!*inside)
        ml_quiet_end(quiet);
    return *inside;
}

static inline void ml_table_leave(struct ml_table_lock *t, bool *inside,
                                  const struct ml_quiet *quiet)
{
    ml_unlock(t->lock());
    *inside = false;
    ml_quiet_end(quiet);
}

/* For ML_TABLE_ACROSS_FORK: before, and after in parent and child. */
static inline void ml_table_before_fork(struct ml_table_lock *t, bool *inside)
{
    struct ml_quiet quiet;

    if (*inside || !ml_table_enter(t, inside, &quiet))
        return;
    t->during_fork = quiet;
    t->locked_for_fork = true;
}

static inline void ml_table_after_fork(struct ml_table_lock *t, bool *inside)
{
    struct ml_quiet quiet = t->during_fork;

    if (!t->locked_for_fork || !*inside)
        return;
    t->locked_for_fork = false;
    ml_table_leave(t, inside, &quiet);
}

/* The definition of `init`, which sees to it that fork holds the lock; once per program. A
 * macro, since what pthread_atfork calls is told nothing. */
#define ML_TABLE_ACROSS_FORK(init, lock, inside)                                                   \
    static void init##_before_fork(void)                                                           \
    {                                                                                              \
        ml_table_before_fork(&(lock), &(inside));                                                  \
    }                                                                                              \
    static void init##_after_fork(void)                                                            \
    {                                                                                              \
        ml_table_after_fork(&(lock), &(inside));                                                   \
    }                                                                                              \
    void init(void)                                                                                \
    {                                                                                              \
        pthread_atfork(init##_before_fork, init##_after_fork, init##_after_fork);                  \
    }

#endif
