/* exit_hooks.c: records when this process began to exit, and with which code.
 *
 * The collector is not the parent of most processes that it records. It notices an end some
 * milliseconds late, and often not its cause. A process that calls exit() or _exit() leaves both in
 * its ring set; one that is killed does not.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "loaded_symbols.h"
#include "record.h"
#include "recorder.h"
#include "sandbox.h"
#include "seccomp_hooks.h"

typedef void exit_function(int code);

/* NULL: the library is not initialised, or was loaded late. */
static exit_function *exit_real;

/* Async-signal-safe, makes no system call that a sandbox could forbid, and uses no thread-local
 * variable: a child of clone() may have none. It therefore cannot distinguish a child of vfork from
 * its parent, whose ring set gets the note: the collector sees that the parent is still running. */
static void note_exit(int code, uint64_t now)
{
    struct ml_ringset *set = ml_recorder_recording() ? ml_recorder_first_set() : NULL;

    if (!set)
        return;
    atomic_store_explicit(&set->exit_code, 1 + ((uint32_t)code & 0xff), memory_order_relaxed);
    /* Pairs with the acquire load of exit_clock in target_end.c. */
    atomic_store_explicit(&set->exit_clock, now, memory_order_release);
}

static void at_exit(int code, void *unused)
{
    int saved_errno = errno;

    (void)unused;
    if (ml_clock_usable())
        note_exit(code, ml_now());
    errno = saved_errno;
}

/* Chromium's zygote calls this in a child whose thread pointer is 0. A clock that may not be read,
 * or by a system call, leaves no note. */
__attribute__((visibility("default"), noreturn)) void _exit(int code)
{
    if (atomic_load_explicit(&ml_clock_mode, memory_order_relaxed) == ML_CLOCK_TSC)
        note_exit(code, ml_tsc());
    if (exit_real)
        exit_real(code);
    for (;;)
        ml_syscall_direct(SYS_exit_group, code, 0, 0, 0, 0, 0);
}

__attribute__((visibility("default"), noreturn)) void _Exit(int code)
{
    _exit(code);
}

/* Handlers run in the reverse order of their registration: this one after most others. It is not
 * registered by the first malloc, which may come while libc holds the lock of its list of handlers.
 */
__attribute__((constructor)) static void prepare(void)
{
    exit_real = (exit_function *)ml_symbol_after(ml_symbols_own_object(), "_exit", NULL);
    on_exit(at_exit, NULL);
}
