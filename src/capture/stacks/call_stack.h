/* call_stack.h: the stack of a call that a program makes very often.
 *
 * A thread keeps its last stacks. Frames that have not changed since are not walked again: the walk
 * ends at the first frame that it had before, if the words that it read from there on are still the
 * same.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CALL_STACK_H
#define ML_CALL_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "python_find.h"
#include "ring.h"

/* Call before the first stack, when no other thread can load libraries: see ml_symbol_after.
 * @mode  which frames are wanted: native ones, those of Python, or both in one stack
 * @return whether stacks can be walked; native ones not with a glibc before 2.35 */
bool ml_call_stack_init(enum ml_stacks_mode mode);

/* Call when the program has been loaded, and when it may have loaded Python. Takes the loader's
 * lock; not for malloc. Keeps errno.
 * @return the Python that it found now, if stacks need one; NULL: none that was not known */
const struct ml_python *ml_call_stack_loaded(void);

/* Call after a library may have been unloaded. */
void ml_call_stack_unloaded(void);

/* ml_record_alloc and ml_record_oom with the stack of a function's caller. It is unknown without a
 * ring, without memory, and in a signal handler that interrupts one of these functions, which may
 * be about to use a number that the handler would give to another stack. A stack that cannot be
 * walked to its end says so in its outermost frame.
 * @frame_address  the function's __builtin_frame_address(0). Allocates nothing, keeps errno. */
void ml_call_stack_alloc(uint32_t space, const void *p, size_t bytes, const void *frame_address);
void ml_call_stack_oom(uint32_t space, size_t bytes, const void *frame_address);

#endif
