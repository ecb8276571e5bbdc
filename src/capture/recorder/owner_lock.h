/* owner_lock.h: a lock that knows who holds it.
 *
 * For slow paths that take a while. A forked child sees that the holder is not one of its own
 * threads and takes the lock over; a signal handler sees that its own thread holds it and gives up
 * instead of waiting for itself. The data that the lock guards must therefore be consistent after
 * every single store. No wait is unlimited: a holder may have left by longjmp.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_OWNER_LOCK_H
#define ML_OWNER_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "filtered.h"

struct ml_owner_lock {
    _Atomic uint64_t owner; /* process:thread, 0: free */
};

#define ML_OWNER_LOCK_TRIES (1u << 20) /* a minute or more */

enum ml_owner_try { ML_OWNER_OURS, ML_OWNER_ANOTHERS, ML_OWNER_REENTERED };

/* One try, which naps for a moment if another thread has it. Precondition: within
 * ml_calls_begin. */
static inline enum ml_owner_try ml_owner_lock_try(struct ml_owner_lock *l)
{
    uint64_t pid = (uint64_t)getpid();
    uint64_t me = pid << 32 | (uint32_t)syscall(SYS_gettid);
    uint64_t owner = atomic_load_explicit(&l->owner, memory_order_relaxed);
    bool takeable = !owner || owner >> 32 != pid;

    if (owner == me)
        return ML_OWNER_REENTERED;
    if (takeable && atomic_compare_exchange_strong_explicit(
                        &l->owner, &owner, me, memory_order_acquire, memory_order_relaxed))
        return ML_OWNER_OURS;
    /* Not nanosleep(), where a thread can be cancelled. */
    if (!takeable)
        syscall(SYS_nanosleep, &(struct timespec){.tv_nsec = 20000}, NULL);
    return ML_OWNER_ANOTHERS;
}

/* Precondition: within ml_calls_begin. */
static inline bool ml_owner_lock_calling(struct ml_owner_lock *l)
{
    enum ml_owner_try got = ML_OWNER_ANOTHERS;

    for (unsigned i = 0; i < ML_OWNER_LOCK_TRIES && ml_calls_allowed() && got == ML_OWNER_ANOTHERS;
         i++)
        got = ml_owner_lock_try(l);
    return got == ML_OWNER_OURS;
}

/* False when this thread holds it already or another does not release it, and in a sandbox, where a
 * process cannot ask for its pid. */
static inline bool ml_owner_lock(struct ml_owner_lock *l)
{
    bool locked;

    if (!ml_calls_begin())
        return false;
    locked = ml_owner_lock_calling(l);
    ml_calls_end();
    return locked;
}

/* Pairs with the acquire exchange in ml_owner_lock. */
static inline void ml_owner_unlock(struct ml_owner_lock *l)
{
    atomic_store_explicit(&l->owner, 0, memory_order_release);
}

#endif
