/* python_recent.h: the last Python stacks of a thread, found again without reading its code
 * objects.
 *
 * A program allocates in the same places again and again: the same frames, in the same code, at the
 * same instructions. While no code object of the process is freed, the address of one says which it
 * is, and a stack that was numbered before needs three words of each frame. A function wraps the
 * destructor of code objects and counts them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_PYTHON_RECENT_H
#define ML_PYTHON_RECENT_H

#include <stdbool.h>
#include <stdint.h>

#include "python_find.h"
#include "python_walk.h"

/* Begins to count. Until then no stack is found. */
void ml_python_recent_begin(const struct ml_python *py);

/* How many code objects have been freed since ml_python_recent_begin. @return false: unknown,
 * because another tool counts them */
bool ml_python_freed_codes(const struct ml_python *py, uint64_t *ret);

/* The number that the thread's stack had. 0: it has to be walked. */
uint32_t ml_python_recent_find(const struct ml_python *py);

/* Keeps the number of the stack that the thread has now. Maps memory at a thread's first stack. */
void ml_python_recent_keep(const struct ml_python *py, uint32_t number);

#endif
