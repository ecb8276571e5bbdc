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
#include <stdint.h>

struct ml_lock {
    _Atomic uint32_t taken;
};

static inline void ml_lock(struct ml_lock *l)
{
    while (atomic_exchange_explicit(&l->taken, 1, memory_order_acquire))
        sched_yield();
}

/* Pairs with the acquire exchange in ml_lock. */
static inline void ml_unlock(struct ml_lock *l)
{
    atomic_store_explicit(&l->taken, 0, memory_order_release);
}

#endif
