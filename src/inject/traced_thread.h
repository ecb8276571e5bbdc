/* traced_thread.h: one thread of another process, stopped and controlled by ptrace.
 *
 * Only this thread is ever stopped. Its registers, its floating-point state and its signal mask
 * are saved before it is made to call something, and restored before it continues. If this process
 * is killed meanwhile, the thread restores them itself: see way_back.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TRACED_THREAD_H
#define ML_TRACED_THREAD_H

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "error.h"

#define ML_XSTATE_BYTES 16384

/* The result of a system call that the kernel repeats unless a signal handler runs first; programs
 * never see it, and the kernel's headers for them do not have it. */
#define ML_ERESTARTNOHAND 514

struct ml_traced_thread {
    pid_t pid, tid;
    bool ended; /* it is gone */
    bool saved; /* there is something to restore */
    uint64_t signals;
    uint64_t way_back; /* a stack pointer from which it finds back; see way_back.h */
    /* Called every millisecond while a call of the thread takes longer; NULL: nothing. */
    void (*meanwhile)(void *context);
    void *context;
    struct user_regs_struct regs;
    size_t xstate_bytes;
    alignas(64) unsigned char xstate[ML_XSTATE_BYTES];
};

/* Seizes the thread, which goes on running.
 * @return 0 or negative errno; -EPERM too if this process has seized it already */
int ml_traced_seize(struct ml_traced_thread *t, pid_t pid, pid_t tid);

/* Stops it, wherever it is. A signal that arrives meanwhile is delivered first.
 * @return 0; -ESRCH: it has ended; -EAGAIN: it is stopped for job control; -ETIMEDOUT: it is in a
 *         call that cannot be interrupted, stops when that returns, and cannot be detached before:
 *         see ml_traced_let_go */
int ml_traced_stop(struct ml_traced_thread *t);

/* The registers of a stopped thread. */
int ml_traced_registers(struct ml_traced_thread *t, struct user_regs_struct *ret);

/* Saves the state of the stopped thread and blocks its signals.
 * @restorer  from ml_way_back_find
 * @return 0; -ENOSPC: its stack has no room; another negative errno */
int ml_traced_save(struct ml_traced_thread *t, uint64_t restorer);

/* Makes a system call by the instruction at `at`, in a function that returns afterwards.
 * Precondition: saved.
 * @ret_value  its result, or negative errno */
int ml_traced_syscall(struct ml_traced_thread *t, uint64_t at, const uint64_t number_and_args[7],
                      int64_t *ret_value);

/* Runs code with an argument on that stack, up to its call of rt_sigreturn, which is not made; the
 * code must repeat that call if it returns. `end` is the address behind the instruction.
 * Precondition: saved. @return 0; -ETIMEDOUT: it did not get there within the time. The thread may
 * hold a lock there, so it is not restored: when it is let go, it finishes the code and makes that
 * call, which does. Another negative errno */
int ml_traced_run(struct ml_traced_thread *t, uint64_t code, uint64_t argument, uint64_t stack_top,
                  uint64_t end, unsigned timeout_ms);

/* Restores and lets go of it. */
void ml_traced_detach(struct ml_traced_thread *t);

/* Detaches a thread that could not be stopped, if it has stopped by now.
 * @return false: it has not, call again */
bool ml_traced_let_go(pid_t tid);

/* Reads or writes the process's memory, also where it cannot write itself. */
bool ml_traced_read(pid_t pid, uint64_t at, void *to, size_t bytes);
bool ml_traced_write(pid_t pid, uint64_t at, const void *from, size_t bytes);

#endif
