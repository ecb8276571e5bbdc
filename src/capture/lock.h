/* lock.h: a spin lock that may be cleared under its holder, as happens to a
 * forked child's copy. Used on slow paths only; a signal handler must not take
 * a lock that its own thread may hold.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_LOCK_H
#define ML_LOCK_H

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct ml_lock {
    _Atomic uint32_t taken;
};

/* Sleeps after a while: a real-time thread that only yields would keep the
 * holder from its CPU. Not by nanosleep(), where a thread can be cancelled. */
static inline void ml_lock(struct ml_lock *l)
{
    for (unsigned tries = 0; atomic_exchange_explicit(&l->taken, 1, memory_order_acquire);
         tries++) {
        if (tries < 64)
            sched_yield();
        else
            syscall(SYS_nanosleep, &(struct timespec){.tv_nsec = 20000}, NULL);
    }
}

/* The same for about a second at most. Where a lock is taken on the program's
 * behalf, somebody may hold it who waits for us. @return whether it is ours */
static inline bool ml_lock_or_give_up(struct ml_lock *l)
{
    for (unsigned tries = 0; tries < 10000; tries++) {
        if (!atomic_exchange_explicit(&l->taken, 1, memory_order_acquire))
            return true;
        syscall(SYS_nanosleep, &(struct timespec){.tv_nsec = 50000}, NULL);
    }
    return false;
}

/* Pairs with the acquire exchange in ml_lock. */
static inline void ml_unlock(struct ml_lock *l)
{
    atomic_store_explicit(&l->taken, 0, memory_order_release);
}

#endif
