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

#include "python_find.h"
#include "python_walk.h"
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

/* Looks for the interpreter among the loaded libraries, for ml_python_here, which does not: that
 * takes the loader's lock. Call it when the program has been loaded, and when it may have loaded
 * Python. Keeps errno.
 * @return the one that it found; NULL: none, or it was known before */
const struct ml_python *ml_python_look_for(void);

/* The interpreter, if it has been found and the calling thread runs Python. NULL too where a signal
 * came inside a record. Keeps errno; allocates nothing; takes no lock once Python runs. */
const struct ml_python *ml_python_here(void);

/* Numbers the frames of a walk, which have been announced then: 0 for those without a line.
 * @return false: some have no number: no room, or no lock; it is counted */
bool ml_python_number_frames(const struct ml_python_walk *w, uint32_t *ret);

/* Call in a forked child, before its first other record, after the names. */
void ml_python_stack_announce(void);

#endif
