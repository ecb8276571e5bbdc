/* python_function.h: the function of the program that the calling thread runs, as a name.
 *
 * Memory that a program allocates outside of all modules belongs to the function that asked for it:
 * that of the innermost frame whose code is neither PyTorch's nor the standard library's. The
 * frames are read as for a stack (python_walk.h), but only the first few, and of a code object that
 * was seen before only the address.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_PYTHON_FUNCTION_H
#define ML_PYTHON_FUNCTION_H

#include <stddef.h>
#include <stdint.h>

/* Functions whose code is in this folder, which ends in a slash, do not count; those of packages
 * that are installed inside of it do. From the first folder on functions have names. A folder that
 * is known, or for which there is no room, changes nothing. Takes the loader's lock. Precondition:
 * the calling thread holds Python's lock. */
void ml_python_pass_over(const char *folder, size_t bytes);

/* The number of its name (names.h): "Trainer.fit", or the name of the file for code outside of all
 * functions. 0: unknown, as for ml_python_stack_here, or no function counts. Keeps errno; allocates
 * nothing. */
uint32_t ml_python_function_here(void);

#endif
