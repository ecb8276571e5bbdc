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

/* The frame of a handler, with the registers that the kernel has saved. */
#define HANDLER_BYTES 8192

/* A handler that records does so often, so the answers are cached. */
static __thread struct {
    uintptr_t begin, end;
} signal_stack;
static __thread uintptr_t readable_page; /* of the last mark that was read */

static bool is_on_known_signal_stack(uintptr_t here)
{
    return here >= signal_stack.begin && here < signal_stack.end;
}

static bool is_on_signal_stack(uintptr_t here)
{
    stack_t now = {0};

    if (is_on_known_signal_stack(here))
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

static uintptr_t page_of(uintptr_t at)
{
    return at / ML_PAGE_BYTES;
}

/* Reads through the kernel: the stack of a coroutine may be unmapped by now. */
static bool has_mark_by_call(const volatile uint64_t *at, uintptr_t here)
{
    uint64_t there = 0;
    long read = ml_own_memory_read((uintptr_t)at, &there, sizeof(there));

    if (read == sizeof(there)) {
        readable_page = page_of((uintptr_t)at);
        (void)is_on_signal_stack(here); /* knows it from now on */
    }
    return read < 0 || there == ml_frame_mark(at);
}

/* Whether the mark's page is there: the caller runs on it, or as a handler right below it or on the
 * signal stack. Seen from elsewhere, a page that was readable may be unmapped by now: a coroutine
 * may have ended. */
static bool is_readable(const volatile uint64_t *at, uintptr_t here)
{
    uintptr_t page = page_of((uintptr_t)at);

    return page == page_of(here) ||
           (page == readable_page &&
            ((uintptr_t)at - here < HANDLER_BYTES || is_on_known_signal_stack(here)));
}

/* The frame may be gone and its memory poisoned. */
static ML_NO_ADDRESS_SANITIZER bool has_mark(const volatile uint64_t *at, uintptr_t here)
{
    return is_readable(at, here) ? *at == ml_frame_mark(at) : has_mark_by_call(at, here);
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
