/* call_stack.h: the native stack of a call that a program makes very often.
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
#include <stdint.h>

/* Call before the first stack, when no other thread can load libraries: see ml_symbol_after.
 * @return whether stacks can be walked; not with a glibc before 2.35 */
bool ml_call_stack_init(void);

/* Call after a library may have been unloaded. */
void ml_call_stack_unloaded(void);

/* The number of the stack of a function's caller; 0 if unknown: no ring, no room, a signal handler
 * inside a stack. A stack that cannot be walked to its end says so in its outermost frame.
 * @frame_address  the function's __builtin_frame_address(0). Allocates nothing, keeps errno. */
uint32_t ml_call_stack(const void *frame_address);

#endif
