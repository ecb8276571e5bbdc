/* traced_thread.c: see traced_thread.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "traced_thread.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/elf.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nanoseconds.h"
#include "way_back.h"

#define STOP_MS 1000
#define STEP_MS 5000
#define NS_PER_MS UINT64_C(1000000)
#define EVENT_STOP (SIGTRAP | PTRACE_EVENT_STOP << 8)
#define CALL_STOP (SIGTRAP | 0x80)

static int trace(int request, const struct ml_traced_thread *t, uintptr_t addr, uintptr_t data)
{
    errno = 0;
    return ptrace(request, t->tid, (void *)addr, (void *)data) < 0 ? -errno : 0;
}

int ml_traced_seize(struct ml_traced_thread *t, pid_t pid, pid_t tid)
{
    *t = (struct ml_traced_thread){.pid = pid, .tid = tid};
    return trace(PTRACE_SEIZE, t, 0, PTRACE_O_TRACESYSGOOD);
}

/* Waits for the next stop. @return 0 with *ret_status; -ESRCH: it has ended; -ETIMEDOUT */
static int wait_for_stop(struct ml_traced_thread *t, unsigned timeout_ms, int *ret_status)
{
    uint64_t end_ns = ml_clock_ns(CLOCK_MONOTONIC) + timeout_ms * NS_PER_MS;

    for (unsigned looks = 0;; looks++) {
        pid_t got = waitpid(t->tid, ret_status, __WALL | WNOHANG);
        if (got == t->tid && WIFSTOPPED(*ret_status))
            return 0;
        if (got == t->tid || (got < 0 && errno != EINTR)) {
            t->ended = true;
            return -ESRCH;
        }
        if (ml_clock_ns(CLOCK_MONOTONIC) > end_ns)
            return -ETIMEDOUT;
        if (looks <= 100) {
            usleep(20);
            continue;
        }
        if (t->meanwhile)
            t->meanwhile(t->context);
        poll(NULL, 0, 1);
    }
}

/* Some calls return EINTR after any stop; the kernel repeats all others itself. The program has not
 * seen that yet, so the kernel is asked to make these again, too, with their whole timeout, unless
 * a signal is handled first: that ends them. */
static void repeat_interrupted(struct ml_traced_thread *t)
{
    struct user_regs_struct regs;

    if (ml_traced_registers(t, &regs) || (int64_t)regs.rax != -EINTR)
        return;
    switch (regs.orig_rax) {
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
    case SYS_epoll_pwait2:
    case SYS_io_getevents:
    case SYS_io_uring_enter:
    case SYS_rt_sigtimedwait:
    case SYS_semop:
    case SYS_semtimedop: break;
    case SYS_accept: /* these on sockets with a timeout */
    case SYS_accept4:
    case SYS_read:
    case SYS_readv:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_sendmsg:
    case SYS_sendto:
    case SYS_write:
    case SYS_writev: break;
    default: return;
    }
    regs.rax = (uint64_t)-ML_ERESTARTNOHAND;
    trace(PTRACE_SETREGS, t, 0, (uintptr_t)&regs);
}

/* Signals that stop it before the interruption does are delivered as they are. */
int ml_traced_stop(struct ml_traced_thread *t)
{
    int status, r = trace(PTRACE_INTERRUPT, t, 0, 0);

    while (!r) {
        r = wait_for_stop(t, STOP_MS, &status);
        if (r)
            return r; /* -ETIMEDOUT: in a call that cannot be interrupted */
        if (status >> 8 == EVENT_STOP) {
            repeat_interrupted(t);
            return 0;
        }
        if (status >> 16 == PTRACE_EVENT_STOP)
            return -EAGAIN; /* group-stop: SIGSTOP, Ctrl-Z; it stays stopped when it is detached */
        r = trace(PTRACE_CONT, t, 0, status >> 8 == CALL_STOP ? 0 : (uintptr_t)WSTOPSIG(status));
    }
    t->ended = r == -ESRCH;
    return r;
}

int ml_traced_registers(struct ml_traced_thread *t, struct user_regs_struct *ret)
{
    return trace(PTRACE_GETREGS, t, 0, (uintptr_t)ret);
}

/* The registers for a call: not inside a system call, which the kernel would restart. */
static struct user_regs_struct call_registers(const struct ml_traced_thread *t, uint64_t at,
                                              uint64_t stack)
{
    struct user_regs_struct regs = t->regs;

    regs.orig_rax = UINT64_MAX;
    regs.rip = at;
    regs.rsp = stack;
    regs.eflags &= ~UINT64_C(0x500); /* single step, direction */
    return regs;
}

/* From here on the thread finds back by itself, and only then are its signals blocked. */
static int leave_its_work(struct ml_traced_thread *t, uint64_t restorer)
{
    struct user_regs_struct regs;
    uint64_t all = ~UINT64_C(0);
    int r;

    t->way_back = ml_way_back_write(t, restorer);
    if (!t->way_back)
        return -ENOSPC;
    regs = call_registers(t, restorer, t->way_back + sizeof(restorer));
    r = trace(PTRACE_SETREGS, t, 0, (uintptr_t)&regs);
    t->saved = !r;
    return r ? r : trace(PTRACE_SETSIGMASK, t, sizeof(all), (uintptr_t)&all);
}

int ml_traced_save(struct ml_traced_thread *t, uint64_t restorer)
{
    struct iovec xstate = {t->xstate, sizeof(t->xstate)};
    int r = ml_traced_registers(t, &t->regs);

    if (!r)
        r = trace(PTRACE_GETREGSET, t, NT_X86_XSTATE, (uintptr_t)&xstate);
    t->xstate_bytes = xstate.iov_len;
    if (!r && t->xstate_bytes >= sizeof(t->xstate))
        r = -E2BIG;
    if (!r)
        r = trace(PTRACE_GETSIGMASK, t, sizeof(t->signals), (uintptr_t)&t->signals);
    return r ? r : leave_its_work(t, restorer);
}

/* Puts the saved state back; the thread stays stopped. */
static void restore(struct ml_traced_thread *t)
{
    struct iovec xstate = {t->xstate, t->xstate_bytes};

    if (!t->saved || t->ended)
        return;
    /* The registers come last: until then it finds back by itself. */
    trace(PTRACE_SETSIGMASK, t, sizeof(t->signals), (uintptr_t)&t->signals);
    trace(PTRACE_SETREGSET, t, NT_X86_XSTATE, (uintptr_t)&xstate);
    trace(PTRACE_SETREGS, t, 0, (uintptr_t)&t->regs);
    t->saved = false;
}

void ml_traced_detach(struct ml_traced_thread *t)
{
    restore(t);
    if (!t->ended)
        trace(PTRACE_DETACH, t, 0, 0);
    t->ended = true;
}

bool ml_traced_let_go(pid_t tid)
{
    int status;
    pid_t got = waitpid(tid, &status, __WALL | WNOHANG);

    if (got == 0 || (got < 0 && errno == EINTR))
        return false;
    if (got == tid && WIFSTOPPED(status)) /* a signal is passed on */
        ptrace(PTRACE_DETACH, tid, NULL, (void *)(uintptr_t)(status >> 16 ? 0 : WSTOPSIG(status)));
    return true;
}

/* ---- Calls --------------------------------------------------------------- */

/* Runs until the thread enters or leaves a system call; a group-stop waits. Unlike a single step or
 * a breakpoint this leaves no signal behind that would end the program if we are killed. */
static int run_to_call(struct ml_traced_thread *t, unsigned timeout_ms)
{
    int status, r = trace(PTRACE_SYSCALL, t, 0, 0);

    for (;;) {
        if (!r)
            r = wait_for_stop(t, timeout_ms, &status);
        if (r)
            return r;
        if (status >> 8 == CALL_STOP)
            return 0;
        if (status >> 16 != PTRACE_EVENT_STOP) /* a fault, which cannot be blocked */
            return -EFAULT;
        r = trace(PTRACE_SYSCALL, t, 0, 0);
    }
}

/* Moves the thread on, without an instruction of its program, to where it can be restored: from
 * here the kernel can repeat a system call that it was in before all this. */
static int rest(struct ml_traced_thread *t)
{
    int status, r = trace(PTRACE_INTERRUPT, t, 0, 0);

    if (!r)
        r = trace(PTRACE_CONT, t, 0, 0);
    return r ? r : wait_for_stop(t, STOP_MS, &status);
}

int ml_traced_syscall(struct ml_traced_thread *t, uint64_t at, const uint64_t number_and_args[7],
                      int64_t *ret_value)
{
    struct user_regs_struct regs = call_registers(t, at, t->way_back);
    int r;

    regs.rax = number_and_args[0];
    regs.rdi = number_and_args[1];
    regs.rsi = number_and_args[2];
    regs.rdx = number_and_args[3];
    regs.r10 = number_and_args[4];
    regs.r8 = number_and_args[5];
    regs.r9 = number_and_args[6];
    r = trace(PTRACE_SETREGS, t, 0, (uintptr_t)&regs);
    if (!r)
        r = run_to_call(t, STEP_MS); /* its entry */
    if (!r)
        r = run_to_call(t, STEP_MS); /* its return */
    if (!r)
        r = ml_traced_registers(t, &regs);
    if (!r)
        *ret_value = (int64_t)regs.rax;
    return r ? r : rest(t);
}

/* Leaves a thread in a call that takes too long, where it can be let go. */
static int give_up_call(struct ml_traced_thread *t, bool is_stopped)
{
    int r = is_stopped ? 0 : ml_traced_stop(t);

    t->saved = false;
    return r && r != -EAGAIN ? r : -ETIMEDOUT;
}

/* Runs on to the entry of rt_sigreturn before `end`; -ETIMEDOUT as for ml_traced_run. */
static int run_to_end(struct ml_traced_thread *t, uint64_t end, unsigned timeout_ms,
                      struct user_regs_struct *ret)
{
    uint64_t end_ns = ml_clock_ns(CLOCK_MONOTONIC) + timeout_ms * NS_PER_MS, now_ns;
    int r = 0;

    while (!r && (now_ns = ml_clock_ns(CLOCK_MONOTONIC)) < end_ns) {
        r = run_to_call(t, (unsigned)((end_ns - now_ns) / NS_PER_MS));
        if (r == -ETIMEDOUT)
            return give_up_call(t, false);
        if (!r)
            r = ml_traced_registers(t, ret);
        if (!r && ret->rip == end && ret->orig_rax == SYS_rt_sigreturn)
            return 0;
    }
    return r ? r : give_up_call(t, true);
}

int ml_traced_run(struct ml_traced_thread *t, uint64_t code, uint64_t argument, uint64_t stack_top,
                  uint64_t end, unsigned timeout_ms)
{
    struct user_regs_struct regs = call_registers(t, code, stack_top & ~UINT64_C(15));
    int r;

    regs.rbp = 0;
    regs.rdi = argument;
    r = trace(PTRACE_SETREGS, t, 0, (uintptr_t)&regs);
    if (!r)
        r = run_to_end(t, end, timeout_ms, &regs);
    regs.orig_rax = UINT64_MAX; /* it is not made */
    if (!r)
        r = trace(PTRACE_SETREGS, t, 0, (uintptr_t)&regs);
    return r ? r : rest(t);
}

/* ---- Memory -------------------------------------------------------------- */

static int open_memory(pid_t pid, int how)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
    return open(path, how | O_CLOEXEC);
}

bool ml_traced_read(pid_t pid, uint64_t at, void *to, size_t bytes)
{
    int fd = open_memory(pid, O_RDONLY);
    bool ok = fd >= 0 && pread(fd, to, bytes, (off_t)at) == (ssize_t)bytes;

    if (fd >= 0)
        close(fd);
    return ok;
}

bool ml_traced_write(pid_t pid, uint64_t at, const void *from, size_t bytes)
{
    int fd = open_memory(pid, O_RDWR);
    bool ok = fd >= 0 && pwrite(fd, from, bytes, (off_t)at) == (ssize_t)bytes;

    if (fd >= 0)
        close(fd);
    return ok;
}
