/* lock.h: a lock that may be cleared while it is held, as happens to a forked child's copy. Used on
 * slow paths only; a signal handler must not take a lock that its own thread may hold.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_LOCK_H
#define ML_LOCK_H

#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "filtered.h"
#include "nanoseconds.h"

struct ml_lock {
    _Atomic uint32_t taken;
};

/* `taken` is the holder, with a bit that is set while a thread may sleep. Holders are even. Most
 * locks do not tell their holders apart. */
enum { ML_LOCK_FREE, ML_LOCK_WAITED_FOR, ML_LOCK_ANY_HOLDER };

#define ML_LOCK_NAP_NS 10000000
#define ML_LOCK_NAP_DOUBLINGS 6  /* the longest nap is 0.64 s */
#define ML_LOCK_PAUSES_MAX 50000 /* about a second, without reading a clock */

static inline bool ml_lock_at_once_as(struct ml_lock *l, uint32_t holder)
{
    uint32_t taken = ML_LOCK_FREE;

    return atomic_compare_exchange_strong_explicit(&l->taken, &taken, holder, memory_order_acquire,
                                                   memory_order_relaxed);
}

static inline bool ml_lock_at_once(struct ml_lock *l)
{
    return ml_lock_at_once_as(l, ML_LOCK_ANY_HOLDER);
}

/* Whether a thread has it at this moment. */
static inline bool ml_lock_is_taken(const struct ml_lock *l)
{
    return atomic_load_explicit(&l->taken, memory_order_relaxed) != ML_LOCK_FREE;
}

static inline bool ml_lock_is_held_by(const struct ml_lock *l, uint32_t holder)
{
    return (atomic_load_explicit(&l->taken, memory_order_relaxed) &
            ~(uint32_t)ML_LOCK_WAITED_FOR) == holder;
}

/* Sleeps in the kernel, so that neither a thousand threads nor a real-time thread that only yields
 * keep the holder from its CPU. Checks again after a while even if no one wakes it, but ever less
 * often: a thousand threads that wake a hundred times a second would leave the holder no time. Does
 * not use nanosleep() or pthreads, where a thread can be cancelled. In a sandbox it makes no call.
 * @naps: how many times this thread has napped for the lock */
static inline bool ml_lock_after_nap(struct ml_lock *l, uint32_t holder, unsigned naps)
{
    struct timespec nap = {
        .tv_nsec = ML_LOCK_NAP_NS << (naps < ML_LOCK_NAP_DOUBLINGS ? naps : ML_LOCK_NAP_DOUBLINGS)};
    uint32_t taken = atomic_load_explicit(&l->taken, memory_order_relaxed);
    uint32_t waited_for = (taken ? taken : holder) | ML_LOCK_WAITED_FOR; /* others may sleep, too */
    int saved_errno = errno;

    if (taken != waited_for &&
        !atomic_compare_exchange_strong_explicit(&l->taken, &taken, waited_for,
                                                 memory_order_acquire, memory_order_relaxed))
        return false;
    if (taken == ML_LOCK_FREE)
        return true;
    if (!ml_calls_begin()) {
        ml_pause();
        return false;
    }
    syscall(SYS_futex, &l->taken, FUTEX_WAIT_PRIVATE, waited_for, &nap, NULL, 0);
    ml_calls_end();
    errno = saved_errno;
    return false;
}

static inline void ml_lock(struct ml_lock *l)
{
    if (ml_lock_at_once(l))
        return;
    for (unsigned naps = 0; !ml_lock_after_nap(l, ML_LOCK_ANY_HOLDER, naps); naps++)
        continue;
}

/* The same for a limited time. When a lock is taken on the program's behalf, its holder may be
 * waiting for us. @return whether the caller has the lock */
static inline bool ml_lock_within_as(struct ml_lock *l, uint32_t holder, unsigned seconds)
{
    uint64_t begin;

    if (ml_lock_at_once_as(l, holder))
        return true;
    begin = ml_calls_allowed() ? ml_clock_ns(CLOCK_MONOTONIC) : 0;
    for (unsigned naps = 0; !ml_lock_after_nap(l, holder, naps); naps++) {
        if (!ml_calls_allowed()) {
            if (naps >= ML_LOCK_PAUSES_MAX)
                return false;
        } else if (ml_clock_ns(CLOCK_MONOTONIC) - begin > seconds * (uint64_t)1000000000) {
            return false;
        }
    }
    return true;
}

static inline bool ml_lock_within(struct ml_lock *l, unsigned seconds)
{
    return ml_lock_within_as(l, ML_LOCK_ANY_HOLDER, seconds);
}

static inline bool ml_lock_or_give_up(struct ml_lock *l)
{
    return ml_lock_within(l, 1);
}

/* Pairs with the acquire exchanges above. The exchange frees the lock at once: a thread that leaves
 * this function by longjmp after it does not have the lock any more. */
static inline void ml_unlock(struct ml_lock *l)
{
    uint32_t taken = atomic_exchange_explicit(&l->taken, ML_LOCK_FREE, memory_order_release);

    if (taken & ML_LOCK_WAITED_FOR && ml_calls_begin()) { /* otherwise a sleeper wakes by timeout */
        syscall(SYS_futex, &l->taken, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
        ml_calls_end();
    }
}

#endif
