/* stack_memory.h: reads of a thread's stack that cannot fault.
 *
 * Between the stack pointer and the top of its stack a thread may read everything. Both ends are
 * known of a stack that pthread_create provides or is given, and the top of the main thread's,
 * which the kernel keeps apart from other memory. The pages below the top are tried once, none
 * below the lower end: a program may unmap what is there at any time. A program that runs on a
 * stack of its own (a coroutine, a signal stack) is read word by word, each of which the kernel
 * tries first.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_STACK_MEMORY_H
#define ML_STACK_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler.h"

/* The part of a thread's own stack that is known to be readable. Zeroed: none yet. */
struct ml_stack_range {
    uintptr_t begin;
    uintptr_t end;
    uintptr_t lowest; /* the beginning is never below this address */
    uintptr_t thread; /* the pointer of the thread whose stack it is */
};

/* Call once, when no other thread can load libraries: see ml_symbol_after. */
void ml_stack_memory_init(void);

static ML_ALWAYS_INLINE bool ml_stack_covers(const struct ml_stack_range *r, uintptr_t at)
{
    return at >= r->begin && at < r->end;
}

/* Extends the calling thread's range to its stack pointer, unless that is on another stack. Keeps
 * errno; allocates nothing. */
void ml_stack_cover(struct ml_stack_range *range, uintptr_t stack_pointer);

/* The word at an address outside of the range. Keeps errno. */
bool ml_stack_read_elsewhere(uintptr_t at, uintptr_t *ret);

/* The word at that address. @return whether it can be read */
static ML_ALWAYS_INLINE ML_NO_ADDRESS_SANITIZER bool ml_stack_read(const struct ml_stack_range *r,
                                                                   uintptr_t at, uintptr_t *ret)
{
    uintptr_t word; /* so that *ret can be a register */

    if (ML_UNLIKELY(at % sizeof(*ret)))
        return false;
    if (ML_LIKELY(ml_stack_covers(r, at))) {
        *ret = *(const uintptr_t *)at;
        return true;
    }
    if (!ml_stack_read_elsewhere(at, &word))
        return false;
    *ret = word;
    return true;
}

#endif
