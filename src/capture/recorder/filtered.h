/* filtered.h: whether the recorder may make system calls.
 *
 * A program can put itself into a seccomp sandbox, whose filter may kill it for a system call that
 * it does not make itself. From then on the recorder makes none: it writes to the rings that it
 * has, and counts the events that it cannot record. Every slow path that makes a call asks
 * ml_calls_allowed() or ml_calls_begin() first; sys.h and lock.h do so for their callers.
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

/* The state that ml_calls_allowed reads: the number of filters that forbid calls, as this process
 * counts them; the same word in its ring set, or in that of the process that forked it; strict
 * mode. */
extern _Atomic uint32_t ml_filtered;
extern _Atomic(_Atomic uint32_t *) ml_filtered_in_set;
extern __thread bool ml_thread_strict;

static inline bool ml_calls_allowed(void)
{
    return !atomic_load_explicit(&ml_filtered, memory_order_seq_cst) && !ml_thread_strict &&
           !atomic_load_explicit(atomic_load_explicit(&ml_filtered_in_set, memory_order_relaxed),
                                 memory_order_relaxed);
}

/* Call these around calls that follow each other, or that wait: a filter for all threads is
 * installed when no thread is between begin and end (sandbox.c). May be nested. A loop between them
 * asks ml_calls_allowed() again. */
extern _Atomic int32_t ml_threads_calling;
extern __thread int32_t ml_calling_depth;

static inline void ml_calls_end(void)
{
    if (!--ml_calling_depth)
        atomic_fetch_sub_explicit(&ml_threads_calling, 1, memory_order_seq_cst);
}

/* @return whether calls are allowed; ml_calls_end must follow only then. Either the thread that
 *         installs a filter sees this one, or this one sees the filter: both store first and load
 *         afterwards, sequentially consistent. Pairs with let_others_finish in sandbox.c. */
static inline bool ml_calls_begin(void)
{
    if (!ml_calling_depth)
        atomic_fetch_add_explicit(&ml_threads_calling, 1, memory_order_seq_cst);
    ml_calling_depth++;
    if (ml_calls_allowed())
        return true;
    ml_calls_end();
    return false;
}

/* Replaces a sleep without a system call: some tens of microseconds. */
static inline void ml_pause(void)
{
    for (int i = 0; i < 500; i++)
        __builtin_ia32_pause();
}

/* This thread's id. When no calls are allowed, the id that libc stores, or 0 if it has none. */
uint32_t ml_thread_id(void);

#endif
