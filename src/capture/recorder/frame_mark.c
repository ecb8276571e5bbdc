/* frame_mark.c: see frame_mark.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "frame_mark.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "filtered.h"
#include "own_memory.h"
#include "sys.h"

/* Frames of one stack that are further apart than this are taken for frames of two stacks. */
#define ONE_STACK_BYTES (1u << 20)

/* A handler that records does so often, so the answer is cached. */
static __thread struct {
    uintptr_t begin, end;
} signal_stack;

static bool is_on_signal_stack(uintptr_t here)
{
    stack_t now = {0};

    if (here >= signal_stack.begin && here < signal_stack.end)
        return true;
    if (!ml_calls_begin())
        return true;
    syscall(SYS_sigaltstack, NULL, &now);
    ml_calls_end();
    if (!(now.ss_flags & SS_ONSTACK))
        return false;
    signal_stack.begin = (uintptr_t)now.ss_sp;
    signal_stack.end = signal_stack.begin + now.ss_size;
    return true;
}

/* Reads through the kernel: the stack of a coroutine may be unmapped by now. */
static bool has_mark_by_call(const volatile uint64_t *at)
{
    uint64_t there = 0;
    long read = ml_own_memory_read((uintptr_t)at, &there, sizeof(there));

    return read < 0 || there == ml_frame_mark(at);
}

/* The frame may be gone and its memory poisoned. Only the page that the caller runs on is certain
 * to be there: a page that could be read before may be unmapped by now, too. */
static ML_NO_ADDRESS_SANITIZER bool has_mark(const volatile uint64_t *at, uintptr_t here)
{
    return (uintptr_t)at / ML_PAGE_BYTES == here / ML_PAGE_BYTES ? *at == ml_frame_mark(at)
                                                                 : has_mark_by_call(at);
}

/* Stacks grow downwards: a frame below the caller's has returned, or was left by longjmp, unless
 * it is on another stack. */
bool ml_frame_stands_above(const volatile uint64_t *at, uintptr_t here)
{
    int saved_errno = errno;
    bool is_below = (uintptr_t)at < here && here - (uintptr_t)at < ONE_STACK_BYTES;
    bool stands = is_below ? is_on_signal_stack(here) : has_mark(at, here);

    errno = saved_errno;
    return stands;
}
