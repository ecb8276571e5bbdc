/* borrowed_thread.c: see borrowed_thread.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "borrowed_thread.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "command_line.h"
#include "nanoseconds.h"
#include "process_threads.h"
#include "safe_point.h"
#include "target_filters.h"
#include "way_back.h"

#define SEARCH_MS 5000 /* for a thread at a safe point */

/* A process has one tracer at a time, and another attach is one while it begins. */
static int explain_tracer(pid_t pid, pid_t tracer, struct ml_error *err)
{
    char command[200];

    ml_command_line_of((uint32_t)tracer, command, sizeof(command));
    return ml_error_set(err, -EBUSY,
                        "process %d is being traced by process %d%s%s%s; try again when that has "
                        "ended",
                        (int)pid, (int)tracer, *command ? " (" : "", command, *command ? ")" : "");
}

static int explain_seize(pid_t pid, pid_t tid, int r, struct ml_error *err)
{
    pid_t tracer = r == -EPERM ? ml_thread_tracer(tid) : 0;
    char scope = '0';
    int fd = open("/proc/sys/kernel/yama/ptrace_scope", O_RDONLY | O_CLOEXEC);

    if (fd >= 0) {
        if (read(fd, &scope, 1) != 1)
            scope = '0';
        close(fd);
    }
    if (tracer)
        return explain_tracer(pid, tracer, err);
    if (r == -ENOEXEC)
        return ml_error_set(err, r, "cannot recognise the libc of process %d", (int)pid);
    if (r != -EPERM)
        return ml_error_set(err, r, "cannot stop process %d: %s", (int)pid, strerror(-r));
    if (scope == '3')
        return ml_error_set(err, r,
                            "this machine forbids ptrace until it is restarted "
                            "(kernel.yama.ptrace_scope is 3); start the program with memledger "
                            "run instead");
    if (scope != '0' && geteuid() != 0)
        return ml_error_set(err, r,
                            "process %d may be traced by root only (kernel.yama.ptrace_scope is "
                            "%c); use sudo memledger attach, or sudo sysctl "
                            "kernel.yama.ptrace_scope=0",
                            (int)pid, scope);
    return ml_error_set(err, r,
                        "not allowed to trace process %d: it belongs to another user, or this "
                        "container has no CAP_SYS_PTRACE; use sudo, or docker run "
                        "--cap-add=SYS_PTRACE",
                        (int)pid);
}

struct thread_list {
    pid_t all[ML_BORROW_THREADS_MAX];
    unsigned count;
};

static bool add_thread(pid_t tid, void *context)
{
    struct thread_list *list = context;

    list->all[list->count++] = tid;
    return list->count == ML_BORROW_THREADS_MAX;
}

/* The instruction in libc's function `syscall`, and the end of its signal handlers. */
static bool find_instructions(struct ml_borrowed_thread *b)
{
    unsigned char code[64];

    if (!ml_traced_read(b->pid, b->symbols.at[ML_TARGET_SYSCALL], code, sizeof(code)))
        return false;
    for (size_t i = 0; i + 1 < sizeof(code); i++) {
        if (code[i] == 0x0f && code[i + 1] == 0x05) {
            b->instruction = b->symbols.at[ML_TARGET_SYSCALL] + i;
            b->restorer = ml_way_back_find(b->pid, b->instruction);
            return b->restorer != 0;
        }
    }
    return false;
}

/* Saves the state of a stopped thread, if it is at a safe point. @return as below */
static int save_thread(struct ml_borrowed_thread *b, struct ml_unwinder *u, const char **ret_why)
{
    int r;

    if (!b->restorer && !find_instructions(b))
        return -ENOEXEC;
    if (!ml_point_is_safe(u, &b->thread, ret_why))
        return -EAGAIN;
    r = ml_traced_save(&b->thread, b->restorer);
    if (r == -ENOSPC)
        *ret_why = "at the end of its stack";
    return r == -ENOSPC ? -EAGAIN : r;
}

void ml_borrowed_let_go(struct ml_borrowed_thread *b)
{
    for (unsigned i = 0; i < b->held_count;) {
        if (ml_traced_let_go(b->held[i]))
            b->held[i] = b->held[--b->held_count];
        else
            i++;
    }
}

static bool is_held(const struct ml_borrowed_thread *b, pid_t tid)
{
    unsigned i = 0;

    while (i < b->held_count && b->held[i] != tid)
        i++;
    return i < b->held_count;
}

/* @return 0: the thread is stopped at a safe point, and saved; -EAGAIN; -ENOEXEC: libc has not the
 *         instructions that are needed; another negative errno */
static int try_thread(struct ml_borrowed_thread *b, struct ml_unwinder *u, pid_t tid,
                      const char **ret_why)
{
    int r = is_held(b, tid) ? -EAGAIN : ml_traced_seize(&b->thread, b->pid, tid);

    if (r)
        return r == -ESRCH ? -EAGAIN : r;
    r = ml_traced_stop(&b->thread);
    if (r == -ETIMEDOUT) {
        *ret_why = "in a call that cannot be interrupted";
        b->held[b->held_count++] = tid;
        return -EAGAIN;
    }
    if (r == -EAGAIN)
        *ret_why = "stopped";
    if (!r)
        r = save_thread(b, u, ret_why);
    if (r)
        ml_traced_detach(&b->thread);
    return r == -ESRCH ? -EAGAIN : r;
}

static int find_thread(struct ml_borrowed_thread *b, struct ml_unwinder *u, struct ml_error *err)
{
    uint64_t end_ns = ml_clock_ns(CLOCK_MONOTONIC) + SEARCH_MS * UINT64_C(1000000);
    const char *why = "gone";

    do {
        struct thread_list threads = {.count = 0};

        ml_threads_visit(b->pid, add_thread, &threads);
        ml_borrowed_let_go(b);
        if (!threads.count)
            return ml_error_set(err, -ESRCH, "process %d has ended", (int)b->pid);
        for (unsigned i = 0; i < threads.count && b->held_count < ML_BORROW_THREADS_MAX; i++) {
            int r = try_thread(b, u, threads.all[i], &why);
            if (r != -EAGAIN)
                return r ? explain_seize(b->pid, threads.all[i], r, err) : 0;
        }
        poll(NULL, 0, 1);
    } while (ml_clock_ns(CLOCK_MONOTONIC) < end_ns);
    return ml_error_set(err, -EAGAIN,
                        "no thread of process %d could be interrupted safely within 5 s: the last "
                        "one was %s; try again",
                        (int)b->pid, why);
}

int ml_borrow_thread(pid_t pid, struct ml_borrowed_thread *b, struct ml_error *err)
{
    struct ml_unwinder *unwinder = NULL;
    int r;

    *b = (struct ml_borrowed_thread){.pid = pid};
    r = ml_target_symbols_find(pid, &b->symbols, err);
    if (!r)
        r = ml_target_filters_check(b->pid, err);
    if (!r)
        r = ml_unwinder_new(b->pid, &unwinder, err);
    if (!r)
        r = find_thread(b, unwinder, err);
    ml_unwinder_free(unwinder);
    return r;
}
