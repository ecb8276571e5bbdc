/* sys.h: system calls that the recorder makes without libc's wrappers.
 *
 * - Its own mappings must not come back to it through the heap hooks.
 * - While it holds a lock or takes a ring, no signal handler may run on this
 *   thread, and no call may act on a pthread_cancel: malloc, which we may be
 *   inside, is no cancellation point.
 *
 * In a sandbox (filtered.h) no call is made: memory is neither allocated nor released, and signals
 * are not blocked.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_SYS_H
#define ML_SYS_H

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "filtered.h"

#define ML_PAGE_BYTES ((uintptr_t)4096)

/* Readable and writable memory; NULL and errno on failure. syscall() takes its arguments as longs;
 * an int would leave their upper halves undefined. */
static inline void *ml_sys_map(size_t bytes, int flags, int fd)
{
    long prot = PROT_READ | PROT_WRITE;
    long at;

    if (!ml_calls_begin()) {
        errno = EPERM;
        return NULL;
    }
    at = syscall(SYS_mmap, NULL, bytes, prot, (long)flags, (long)fd, 0L);
    ml_calls_end();
    return at == -1 ? NULL : (void *)at;
}

/* Address space that takes memory only where it is written to. NULL: there is none. */
static inline void *ml_sys_reserve(size_t bytes)
{
    return ml_sys_map(bytes, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
}

static inline void ml_sys_unmap(void *at, size_t bytes)
{
    if (ml_calls_begin()) {
        syscall(SYS_munmap, at, bytes);
        ml_calls_end();
    }
}

/* Returned instead of the old signal mask when no signal was blocked. SIGKILL never is. */
#define ML_SIGNALS_AS_THEY_ARE ((uint64_t)1 << (SIGKILL - 1))

/* The signals that the program itself blocks in this thread, while we block all. */
extern __thread uint64_t ml_signals_of_program;
#define ML_NO_SIGNALS_HELD (~(uint64_t)0) /* we block none now */

/* Blocks all signals, including libc's own, which sigprocmask() spares. Calls may be made until the
 * signals are restored: see ml_calls_begin. */
static inline uint64_t ml_sys_block_signals(void)
{
    uint64_t all = ~(uint64_t)0;
    uint64_t old = 0;

    if (!ml_calls_begin())
        return ML_SIGNALS_AS_THEY_ARE;
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, &old, sizeof(old));
    if (ml_signals_of_program == ML_NO_SIGNALS_HELD)
        ml_signals_of_program = old;
    return old;
}

static inline void ml_sys_restore_signals(uint64_t old)
{
    if (old == ML_SIGNALS_AS_THEY_ARE)
        return;
    if (old == ml_signals_of_program) /* otherwise an outer section is still open */
        ml_signals_of_program = ML_NO_SIGNALS_HELD;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &old, NULL, sizeof(old));
    ml_calls_end();
}

/* Whether a signal is pending that the program would receive if we did not block it. Changes errno.
 */
bool ml_sys_signal_waits(void);

/* Writes the concatenated parts to stderr, a kilobyte at most; nothing in a sandbox. Keeps errno.
 */
#define ml_sys_say(...) ml_sys_say_parts(__VA_ARGS__, (const char *)NULL)
void ml_sys_say_parts(const char *first, ...);

/* No signal interrupts this thread between begin and end. May be nested. */
struct ml_quiet {
    uint64_t signals;
    int cancel_state;
};

static inline void ml_quiet_begin(struct ml_quiet *q)
{
    q->signals = ml_sys_block_signals();
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &q->cancel_state);
}

static inline void ml_quiet_end(const struct ml_quiet *q)
{
    pthread_setcancelstate(q->cancel_state, NULL);
    ml_sys_restore_signals(q->signals);
}

#endif
