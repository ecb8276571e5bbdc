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

/* A thread's control block (struct pthread of glibc) begins at its thread pointer, at the top of
 * its stack. It contains these fields, which no interface leads to without malloc; every version
 * has them side by side, at a place of its own. */
struct stack_fields {
    uintptr_t
        block; /* the lowest address of the memory, a guard page included; the main thread: 0 */
    uintptr_t block_bytes;
    uintptr_t guard_bytes;
    uintptr_t reported_guard_bytes;
};

#define CONTROL_BYTES 2048           /* the part of the control block that may have these fields */
#define ABOVE_THREAD_MAX (64u << 10) /* the block's end is at most this far above the pointer */
#define STACK_MIN (16u << 10)        /* PTHREAD_STACK_MIN */

static uintptr_t main_stack_end; /* 0: unknown */

void ml_stack_memory_init(void)
{
    const uintptr_t *end = ml_symbol_after(NULL, "__libc_stack_end", NULL);

    main_stack_end = end ? *end & ~(sizeof(uintptr_t) - 1) : 0;
}

/* Whether these words describe the memory that the control block is at the top of. */
static bool are_of(const struct stack_fields *f, uintptr_t thread)
{
    uintptr_t below = thread - f->block;

    return f->block && f->block < thread && f->block_bytes >= STACK_MIN &&
           f->block_bytes > below + CONTROL_BYTES && f->block_bytes <= below + ABOVE_THREAD_MAX &&
           f->guard_bytes % ML_PAGE_BYTES == 0 && f->guard_bytes < f->block_bytes &&
           f->reported_guard_bytes < f->block_bytes;
}

/* The lowest address of the thread's stack; 0: it is the main thread, or the fields are not known.
 */
static ML_NO_ADDRESS_SANITIZER uintptr_t lowest_of(uintptr_t thread)
{
    for (size_t at = 0; at + sizeof(struct stack_fields) <= CONTROL_BYTES;
         at += sizeof(uintptr_t)) {
        const struct stack_fields *fields = (const struct stack_fields *)(thread + at);

        if (ML_UNLIKELY(are_of(fields, thread)))
            return fields->block;
    }
    return 0;
}

/* The main thread has its control block elsewhere, mostly below its stack: what is below that one
 * is no stack of a thread. */
static void begin_range(struct ml_stack_range *range, uintptr_t thread)
{
    uintptr_t lowest = lowest_of(thread);

    range->thread = thread;
    range->lowest = lowest ? lowest : thread < main_stack_end ? thread : 0;
    range->end = lowest ? thread : main_stack_end;
    range->begin = (range->end + ML_PAGE_BYTES - 1) & ~(ML_PAGE_BYTES - 1);
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
    uintptr_t thread = (uintptr_t)__builtin_thread_pointer();
    uintptr_t page = stack_pointer & ~(ML_PAGE_BYTES - 1);
    int saved_errno = errno;

    if (range->thread != thread)
        begin_range(range, thread);
    if (stack_pointer < range->lowest || stack_pointer >= range->end)
        return;
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
