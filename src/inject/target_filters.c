/* target_filters.c: see target_filters.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "target_filters.h"

#include <errno.h>
#include <linux/filter.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>

#include "filter_verdict.h"
#include "process_threads.h"
#include "seccomp_state.h"
#include "traced_thread.h"

#ifndef PTRACE_SECCOMP_GET_FILTER
#define PTRACE_SECCOMP_GET_FILTER 0x420c
#endif

#define STRICT 1         /* of the modes in seccomp_state.h */
#define FILTERS_MAX 1024 /* of a thread; the kernel allows fewer */
#define STOP_TRIES 5
#define HOLD_TRIES 1000 /* a millisecond each */

/* Programs that filter themselves: nothing of a container's settings helps. */
static int explain_harm(pid_t pid, uint32_t call, struct ml_error *err)
{
    return ml_error_set(err, -EPERM,
                        "the seccomp filter of process %d could end it for system call %u, which "
                        "the recorder makes; let the filter allow that call or answer it with an "
                        "error (docker run --security-opt seccomp=FILE), or start the program with "
                        "memledger run",
                        (int)pid, call);
}

static int explain_unread(pid_t pid, int r, struct ml_error *err)
{
    if (r == -EACCES || r == -EPERM)
        return ml_error_set(err, -EPERM,
                            "process %d is in a seccomp sandbox that only root outside of any "
                            "container can check; use sudo memledger attach on the host",
                            (int)pid);
    return ml_error_set(err, -EPERM,
                        "process %d is in a seccomp sandbox, and this kernel does not show its "
                        "filters: %s; start the program with memledger run instead",
                        (int)pid, strerror(-r));
}

/* One filter, in the order of their installation. @return 0; -ENOENT: it has no more */
static int check_filter(const struct ml_traced_thread *t, unsigned number, struct ml_error *err)
{
    static struct sock_filter code[BPF_MAXINSNS];
    struct sock_fprog filter = {.filter = code};
    uint32_t call = 0;
    long count;

    errno = 0;
    count = ptrace(PTRACE_SECCOMP_GET_FILTER, t->tid, (void *)(uintptr_t)number, NULL);
    if (count < 0 && errno == ENOENT)
        return -ENOENT;
    if (count > BPF_MAXINSNS)
        return explain_unread(t->pid, -EFBIG, err);
    if (count >= 0)
        count = ptrace(PTRACE_SECCOMP_GET_FILTER, t->tid, (void *)(uintptr_t)number, code);
    if (count < 0)
        return explain_unread(t->pid, -errno, err);
    filter.len = (unsigned short)count;
    return ml_filter_spares_injection(&filter, &call) ? 0 : explain_harm(t->pid, call, err);
}

static int check_stopped(const struct ml_traced_thread *t, struct ml_error *err)
{
    int r = 0;

    for (unsigned i = 0; !r && i < FILTERS_MAX; i++)
        r = check_filter(t, i, err);
    return r == -ENOENT ? 0 : r;
}

/* A thread that waits for a disk stops late. */
static void let_go(struct ml_traced_thread *t)
{
    for (int i = 0; i < HOLD_TRIES && !ml_traced_let_go(t->tid); i++)
        poll(NULL, 0, 1);
}

/* Whether it has filters that this process does not have. */
static bool has_more_filters(pid_t pid, pid_t tid, struct ml_seccomp_state *ret)
{
    struct ml_seccomp_state ours = {0};
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)pid, (int)tid);
    *ret = (struct ml_seccomp_state){0};
    return ml_seccomp_read("/proc/self/status", &ours) && ml_seccomp_read(path, ret) &&
           ml_seccomp_is_more(ret, &ours);
}

/* A thread that has ended meanwhile has no filters. */
static int check_thread(pid_t pid, pid_t tid, struct ml_error *err)
{
    static struct ml_traced_thread t;
    struct ml_seccomp_state state;
    int r, tries = 0;

    if (!has_more_filters(pid, tid, &state))
        return 0;
    if (state.mode == STRICT)
        return ml_error_set(err, -EPERM,
                            "thread %d of process %d is in a strict seccomp sandbox, where it may "
                            "only read and write; start the program with memledger run instead",
                            (int)tid, (int)pid);
    r = ml_traced_seize(&t, pid, tid);
    if (r)
        return r == -ESRCH ? 0 : explain_unread(pid, r, err);
    do
        r = ml_traced_stop(&t); /* for a second */
    while (r == -ETIMEDOUT && ++tries < STOP_TRIES);
    if (r == -ETIMEDOUT) {
        let_go(&t);
        return ml_error_set(
            err, -EBUSY,
            "thread %d of process %d is in a call that cannot be interrupted, so that "
            "its seccomp filters cannot be read; try again",
            (int)tid, (int)pid);
    }
    r = r == -ESRCH ? 0 : check_stopped(&t, err);
    ml_traced_detach(&t);
    return r;
}

struct check {
    pid_t pid;
    struct ml_error *err;
    int result;
};

static bool is_refused(pid_t tid, void *context)
{
    struct check *c = context;

    c->result = check_thread(c->pid, tid, c->err);
    return c->result != 0;
}

int ml_target_filters_check(pid_t pid, struct ml_error *err)
{
    struct check c = {pid, err, 0};

    if (ml_threads_visit(pid, is_refused, &c) < 0)
        return ml_error_set(err, -ESRCH, "process %d has ended", (int)pid);
    return c.result;
}

static bool has_filters(pid_t tid, void *context)
{
    const pid_t *pid = context;
    struct ml_seccomp_state state;

    return has_more_filters(*pid, tid, &state);
}

bool ml_target_has_filters(pid_t pid)
{
    return ml_threads_visit(pid, has_filters, &pid) > 0;
}
