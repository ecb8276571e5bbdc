/* frame_mark.c: see frame_mark.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "frame_mark.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "filtered.h"

/* A handler that records does so often, so the answers are cached. */
static __thread struct {
    uintptr_t signal_stack, signal_stack_end;
    uintptr_t read_from, read_to; /* the part of the stack that is known to be mapped */
} known;

static bool is_on_signal_stack(uintptr_t here)
{
    stack_t now = {0};

    if (here >= known.signal_stack && here < known.signal_stack_end)
        return true;
    if (!ml_calls_begin())
        return true;
    syscall(SYS_sigaltstack, NULL, &now);
    ml_calls_end();
    if (!(now.ss_flags & SS_ONSTACK))
        return false;
    known.signal_stack = (uintptr_t)now.ss_sp;
    known.signal_stack_end = known.signal_stack + now.ss_size;
    return true;
}

/* Reads through a system call: the stack of a coroutine may be unmapped by now. */
static bool has_mark_by_call(const volatile uint64_t *at, uintptr_t here)
{
    uint64_t there = 0;
    struct iovec to = {&there, sizeof(there)};
    struct iovec from = {(void *)(uintptr_t)at, sizeof(there)};
    long n;

    if (!ml_calls_begin())
        return true;
    n = syscall(SYS_process_vm_readv, (long)getpid(), &to, 1L, &from, 1L, 0L);
    ml_calls_end();
    if (n < 0)
        return errno != EFAULT; /* other errors: we may not read there */
    known.read_from = here;
    known.read_to = (uintptr_t)at;
    return there == ml_frame_mark(at);
}

/* The frame may be gone and its memory poisoned. */
__attribute__((no_sanitize_address)) static bool has_mark(const volatile uint64_t *at,
                                                          uintptr_t here)
{
    bool known_to_be_there = (uintptr_t)at <= known.read_to && (uintptr_t)at >= known.read_from;

    return known_to_be_there ? *at == ml_frame_mark(at) : has_mark_by_call(at, here);
}

/* Stacks grow downwards: a frame below the caller's has returned, or was left by longjmp. */
bool ml_frame_stands_above(const volatile uint64_t *at, uintptr_t here)
{
    int saved_errno = errno;
    bool stands = (uintptr_t)at < here ? is_on_signal_stack(here) : has_mark(at, here);

    errno = saved_errno;
    return stands;
}
