/* stack_memory.c: see stack_memory.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "stack_memory.h"

#include <errno.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "filtered.h"
#include "loaded_symbols.h"
#include "own_memory.h"
#include "sys.h"

#define PAGES_AT_ONCE 16
#define PAGES_MAX 4096 /* a thread whose stack grows by more between two calls is read slowly */

static uintptr_t main_stack_end; /* 0: unknown */

void ml_stack_memory_init(void)
{
    const uintptr_t *end = ml_symbol_after(NULL, "__libc_stack_end", NULL);

    main_stack_end = end ? *end & ~(sizeof(uintptr_t) - 1) : 0;
}

/* A thread's control block is at the top of its stack. The main thread has its own elsewhere,
 * below. */
static uintptr_t top_above(uintptr_t stack_pointer)
{
    uintptr_t thread = (uintptr_t)__builtin_thread_pointer();

    if (stack_pointer < thread && (thread < main_stack_end || stack_pointer >= main_stack_end))
        return thread;
    return stack_pointer < main_stack_end ? main_stack_end : 0;
}

/* Whether the kernel can read a byte of each of these pages. */
static bool are_readable(uintptr_t first, size_t pages)
{
    struct iovec there[PAGES_AT_ONCE];
    char bytes[PAGES_AT_ONCE];
    struct iovec here = {bytes, pages};
    long n;

    for (size_t i = 0; i < pages; i++)
        there[i] = (struct iovec){(void *)(first + i * ML_PAGE_BYTES), 1};
    if (!ml_calls_begin())
        return false;
    n = syscall(SYS_process_vm_readv, (long)getpid(), &here, 1L, there, pages, 0L);
    ml_calls_end();
    return n == (long)pages;
}

/* Tries the pages one after another, from the known ones downwards. */
static void extend(struct ml_stack_range *range, uintptr_t begin)
{
    while (range->begin > begin) {
        size_t pages = ml_min_u64((range->begin - begin) / ML_PAGE_BYTES, PAGES_AT_ONCE);
        uintptr_t lower = range->begin - pages * ML_PAGE_BYTES;
        if (!are_readable(lower, pages))
            return;
        range->begin = lower;
    }
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

bool ml_stack_read_elsewhere(uintptr_t at, uintptr_t *ret)
{
    int saved_errno = errno;
    bool ok = ml_own_memory_read(at, ret, sizeof(*ret)) == sizeof(*ret);

    errno = saved_errno;
    return ok;
}
