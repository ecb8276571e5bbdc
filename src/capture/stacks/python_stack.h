/* python_stack.h: the calling thread's Python stack, as a number.
 *
 * Takes no lock of the interpreter, and none of ours for a stack that was seen before. Frames and
 * stacks are announced to the collector once, before any thread can learn their numbers; forked
 * children inherit the tables and announce them again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_PYTHON_STACK_H
#define ML_PYTHON_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "ring.h"

/* Call once per program, after ml_names_init: this lock is taken before that of the names, in a
 * fork too. */
void ml_python_stack_init(void);

/* 0 if unknown: the thread runs no Python or an unknown version, or a signal came inside a record.
 * Numbers are shared with stack.h. Keeps errno; allocates nothing. */
uint32_t ml_python_stack_here(void);

/* Whether the calling thread is known to run no Python, while others do. */
bool ml_python_is_elsewhere(void);

/* The same as the numbers of its frames, innermost first; stack.h appends them to a native stack.
 */
struct ml_python_frames {
    unsigned n;
    uintptr_t interpreter; /* an address in its code */
    uint32_t numbers[ML_STACK_MAX_FRAMES];
};
void ml_python_frames_here(struct ml_python_frames *ret);

/* Call in a forked child, before its first other record, after the names. */
void ml_python_stack_announce(void);

#endif
