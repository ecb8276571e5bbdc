/* exit_copy.c: leaves a copy of this process when it exits, for `run --scan-at-exit`.
 *
 * The launcher searches the memory of the copy for pointers to blocks that were never freed. The
 * copy is a child as of fork(): it shares the pages of the process, so that it costs no memory
 * while the process ends, and keeps one instant of them, whatever the other threads do. The process
 * itself neither waits nor is read. The copy closes all files, handles no signal, runs no code of
 * the program, and ends when the launcher has read it or has gone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "heap_start.h"
#include "recorder.h"
#include "sandbox_look.h"
#include "seccomp_hooks.h"
#include "sys.h"

#define NAPS 6000 /* of a tenth of a second: the copy waits no longer than ten minutes */
#define FILES 65536
#define CALL(number, a, b, c, d)                                                                   \
    ml_syscall_direct(number, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)

/* The process that loaded this library; 0: it has filters. A forked one has blocks of its parent
 * that are in no book. */
static long started;

/* ---- The copy ------------------------------------------------------------ */

/* If memory is short, the copy goes first. */
static void be_expendable(void)
{
    long fd = CALL(SYS_openat, AT_FDCWD, "/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC, 0);

    if (fd >= 0)
        CALL(SYS_write, fd, "1000", 4, 0);
}

static void close_files(void)
{
    if (CALL(SYS_close_range, 0, ~0u, 0, 0) == 0)
        return;
    for (long fd = 0; fd < FILES; fd++)
        CALL(SYS_close, fd, 0, 0, 0);
}

/* Whether a process of the program has adopted the copy, as one that has made itself a subreaper
 * does. It may wait for all its children, and the launcher waits for it. Otherwise the launcher
 * adopts it. */
static bool is_adopted(const struct ml_session *page)
{
    long parent = CALL(SYS_getppid, 0, 0, 0, 0);

    return parent != started && parent != (long)page->launcher_pid;
}

static void wait_until_read(struct ml_session *page)
{
    const struct timespec nap = {.tv_nsec = 100000000};

    for (int i = 0; i < NAPS && !atomic_load_explicit(&page->copies_done, memory_order_relaxed);
         i++) {
        CALL(SYS_futex, &page->copies_done, FUTEX_WAIT, 0, &nap);
        if (CALL(SYS_kill, page->launcher_pid, 0, 0, 0) < 0 && errno == ESRCH)
            return;
        if (is_adopted(page))
            return;
    }
}

static _Noreturn void be_a_copy(struct ml_session *page, struct ml_session_copy *entry)
{
    be_expendable();
    close_files();
    CALL(SYS_prctl, PR_SET_PTRACER, page->launcher_pid, 0, 0); /* where only parents may read */
    /* Pairs with the acquire load in run_scan.c. */
    atomic_store_explicit(&entry->ready, 1, memory_order_release);
    wait_until_read(page);
    for (;;)
        CALL(SYS_exit_group, 0, 0, 0, 0);
}

/* ---- The process --------------------------------------------------------- */

static uint64_t monotonic_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The first entry is the program's own, so that its helpers do not take its place.
 * @return NULL: all are taken */
static struct ml_session_copy *free_entry(struct ml_session *page)
{
    uint32_t n;

    if (started == (long)atomic_load_explicit(&page->program_pid, memory_order_relaxed))
        return &page->copies[0];
    n = 1 + atomic_fetch_add_explicit(&page->others_exited, 1, memory_order_relaxed);
    return n < ML_SESSION_COPIES ? &page->copies[n] : NULL;
}

/* Registers that the caller wants back are on the stack from here on. */
static ML_NOINLINE void leave_copy(struct ml_session *page)
{
    struct ml_session_copy *entry = free_entry(page);
    uint64_t signals;
    long pid;

    if (!entry)
        return;
    __builtin_unwind_init();
    entry->of_pid = (uint32_t)started;
    entry->thread = ml_thread_id();
    entry->time_ns = monotonic_ns();
    __asm__ volatile("mov %%rsp, %0" : "=r"(entry->stack));
    entry->thread_area = (uint64_t)(uintptr_t)__builtin_thread_pointer();
    signals = ml_sys_block_signals();
    if (signals == ML_SIGNALS_AS_THEY_ARE)
        return;
    /* No signal at its end: the program does not see this child. */
    pid = CALL(SYS_clone, 0, 0, 0, 0);
    if (pid == 0)
        be_a_copy(page, entry);
    if (pid > 0)
        atomic_store_explicit(&entry->pid, (uint32_t)pid, memory_order_relaxed);
    ml_sys_restore_signals(signals);
}

/* A filter may allow the recorder's calls and kill for those of this file. */
static bool has_filters(void)
{
    return !ml_calls_allowed() ||
           atomic_load_explicit(&ml_filters_spared, memory_order_relaxed) > 0;
}

static void at_exit(int code, void *unused)
{
    int saved_errno = errno;
    struct ml_session *page = atomic_load_explicit(&ml_session, memory_order_acquire);

    (void)code;
    (void)unused;
    if (page && page->copies_wanted && ML_HEAP_SPACE && !has_filters() &&
        CALL(SYS_getpid, 0, 0, 0, 0) == started)
        leave_copy(page);
    errno = saved_errno;
}

/* Handlers run in the reverse order of their registration: this one after the destructors of the
 * program and its libraries. */
__attribute__((constructor)) static void prepare(void)
{
    ml_sandbox_look_first();
    if (!has_filters())
        started = CALL(SYS_getpid, 0, 0, 0, 0);
    on_exit(at_exit, NULL);
}
