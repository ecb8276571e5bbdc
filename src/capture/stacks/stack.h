/* stack.h: who asked: the calling thread's native stack, as a number.
 *
 * For rare calls: unwinding takes microseconds. A stack is announced to the
 * collector once, with the libraries it lies in, before any thread can learn its
 * number. Addresses are resolved to names by the collector when the run is over.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_STACK_H
#define ML_STACK_H

#include <stdint.h>

/* Native stacks and those of python_stack.h. */
extern const struct ml_recorder_part ml_stack_part;

/* Once per program, after ml_names_init: the lock here is taken before that of
 * the names, in a fork too. */
void ml_stack_init(void);

/* The stack from the caller's caller outwards; 0 where it cannot be known (a
 * full table, no session). Keeps errno; allocates nothing; not for signal
 * handlers. */
uint32_t ml_stack_here(void);

/* The same up to the Python interpreter, and then the Python frames instead of the
 * interpreter's own and all that lies outside it. Where the thread runs no Python, as
 * ml_stack_here. */
uint32_t ml_stack_here_in_python(void);

/* For a stack of whatever sort: one numbering for all. 0: there are too many. */
uint32_t ml_stack_new_number(void);

#endif
