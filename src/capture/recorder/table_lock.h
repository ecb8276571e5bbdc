/* table_lock.h: guards a table that forked children inherit.
 *
 * A child must not inherit an entry that another thread of its parent has half written, so fork()
 * holds the lock; a raw clone() is not covered. No signal handler runs on a thread that is inside,
 * because it would wait for its own thread's lock.
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
    struct ml_lock *(*lock)(void); /* in memory that a child sees cleared */
    struct ml_quiet during_fork;
    bool locked_for_fork;
};

/* `inside` is thread-local and says whether the thread is in the table. False if the lock could not
 * be taken: a thread that forks holds it while the program's fork handlers run, and one of those
 * may wait for this thread. */
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

/* For ML_TABLE_ACROSS_FORK: call before fork, and after it in parent and child. */
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

/* Defines `init`, which makes fork hold the lock; once per program. A macro, because pthread_atfork
 * passes no argument to its handlers. */
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
