/* stack.h: the calling thread's native stack, as a number.
 *
 * For rare calls: unwinding takes microseconds. A stack is announced to the collector once, with
 * its libraries, before any thread can learn its number. The collector resolves addresses to names
 * when the run is over.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_STACK_H
#define ML_STACK_H

#include <stdbool.h>
#include <stdint.h>

/* Native stacks and those of python_stack.h. */
extern const struct ml_recorder_part ml_stack_part;

/* Call once per program, after ml_names_init: this lock is taken before that of the names, in a
 * fork too. */
void ml_stack_init(void);

/* The stack from the caller's caller outwards; 0 if unknown (a full table, no session). Keeps
 * errno; allocates nothing; not for signal handlers. */
uint32_t ml_stack_here(void);

/* The same up to the Python interpreter, followed by the Python frames instead of the native ones
 * of the interpreter and its callers. If the thread runs no Python, the same as ml_stack_here. */
uint32_t ml_stack_here_in_python(void);

/* Announces the libraries that contain these frames, unless they are known to be. Takes no lock if
 * they are, and none of the loader's. Keeps errno.
 * @unloads  the number of times that libraries were unloaded before the frames were walked
 * @return false: the lock could not be taken */
bool ml_stack_libraries(const uint64_t *frames, uint32_t n, uint32_t unloads);

#endif
