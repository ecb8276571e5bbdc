/* stack_memory.c: see stack_memory.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stack_memory.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "filtered.h"
#include "loaded_symbols.h"
#include "sys.h"

#define PAGES_MAX 4096 /* a thread whose stack grows by more between two calls is read slowly */

static uintptr_t main_stack_end;      /* 0: unknown */
static _Atomic uintptr_t main_thread; /* its control block; 0: unknown */

/* A child that another thread than the main one forks keeps what its parent knew. */
static bool is_main(uintptr_t thread)
{
    uintptr_t known = atomic_load_explicit(&main_thread, memory_order_relaxed);

    if (ML_LIKELY(known) || !ml_calls_begin())
        return known == thread;
    if (getpid() == (pid_t)ml_thread_id())
        atomic_store_explicit(&main_thread, known = thread, memory_order_relaxed);
    ml_calls_end();
    return known == thread;
}

void ml_stack_memory_init(void)
{
    const uintptr_t *end = ml_symbol_after(NULL, "__libc_stack_end", NULL);

    main_stack_end = end ? *end & ~(sizeof(uintptr_t) - 1) : 0;
    (void)is_main((uintptr_t)__builtin_thread_pointer()); /* it remembers the answer */
}

/* A thread's control block is at the top of its stack. The main thread has its own elsewhere,
 * below: what is below that one is the stack of a coroutine, and may be unmapped. */
static uintptr_t top_above(uintptr_t stack_pointer)
{
    uintptr_t thread = (uintptr_t)__builtin_thread_pointer();

    if (stack_pointer < thread && !is_main(thread) &&
        (thread < main_stack_end || stack_pointer >= main_stack_end))
        return thread;
    return stack_pointer < main_stack_end ? main_stack_end : 0;
}

/* Whether a word can be read. The kernel reads it as a set of signals, and then refuses the call,
 * whose first argument is wrong. A program in a sandbox that no one has noticed yet is more likely
 * to be allowed this call than any other. */
static bool is_readable(uintptr_t at)
{
    bool ok;

    if (!ml_calls_begin())
        return false;
    ok = syscall(SYS_rt_sigprocmask, ~0L, at, NULL, sizeof(uint64_t)) == -1 && errno == EINVAL;
    ml_calls_end();
    return ok;
}

/* Tries the pages one after another, from the known ones downwards. */
static void extend(struct ml_stack_range *range, uintptr_t begin)
{
    while (range->begin > begin && is_readable(range->begin - ML_PAGE_BYTES))
        range->begin -= ML_PAGE_BYTES;
}

void ml_stack_cover(struct ml_stack_range *range, uintptr_t stack_pointer)
{
    uintptr_t page = stack_pointer & ~(ML_PAGE_BYTES - 1);
    uintptr_t top = top_above(stack_pointer);
    int saved_errno = errno;

    if (!top)
        return;
    if (range->end != top) {
        range->end = top;
        range->begin = (top + ML_PAGE_BYTES - 1) & ~(ML_PAGE_BYTES - 1);
    }
    if (range->begin > page && range->begin - page <= PAGES_MAX * ML_PAGE_BYTES)
        extend(range, page);
    errno = saved_errno;
}

ML_NO_ADDRESS_SANITIZER bool ml_stack_read_elsewhere(uintptr_t at, uintptr_t *ret)
{
    int saved_errno = errno;
    bool ok = is_readable(at);

    if (ok)
        *ret = *(const uintptr_t *)at;
    errno = saved_errno;
    return ok;
}
