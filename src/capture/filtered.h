/* filtered.h: whether the recorder may make system calls.
 *
 * A program can put itself into a seccomp sandbox, whose filter may kill it for a system
 * call that it does not make itself. From then on the recorder makes none: it writes to the
 * rings that it has, and counts what it cannot record. Every slow path that makes a call asks
 * ml_calls_allowed() first; sys.h and lock.h do so for those who use them.
 *
 * sandbox.h detects the sandbox.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_FILTERED_H
#define ML_FILTERED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* What ml_calls_allowed reads. `there` is in the process's ring set, or in that of the one
 * that forked it. */
extern _Atomic uint32_t ml_filtered;
extern _Atomic(_Atomic uint32_t *) ml_filtered_there;
extern __thread bool ml_thread_strict;

static inline bool ml_calls_allowed(void)
{
    return !atomic_load_explicit(&ml_filtered, memory_order_relaxed) && !ml_thread_strict &&
           !atomic_load_explicit(atomic_load_explicit(&ml_filtered_there, memory_order_relaxed),
                                 memory_order_relaxed);
}

/* A pause instead of a sleep: without a call, some tens of microseconds. */
static inline void ml_pause(void)
{
    for (int i = 0; i < 500; i++)
        __builtin_ia32_pause();
}

/* This thread's id. Without calls it is the one that libc knows, 0 where that is none. */
uint32_t ml_thread_id(void);

#endif
