/* python_remote.h: loads a library into a process that runs Python 3.14 or later and calls a
 * function of it there, through the interpreter's own interface for debuggers (PEP 768).
 *
 * No thread is stopped. The interpreter gets the path of a script, which its main thread runs
 * between two instructions; the script starts a thread that loads the library and calls the
 * function, while the program goes on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_PYTHON_REMOTE_H
#define ML_PYTHON_REMOTE_H

#include <stdint.h>
#include <sys/types.h>

#include "error.h"

struct ml_injection;

/* Waits until the function has returned, for as long as the injection says.
 * @ret_value  what the function returned
 * @return 0; -ENOTSUP: the process has no such interface, or may not be reached by it; -EAGAIN: its
 *         main thread is busy, and the script will not run; another negative errno with an
 *         explanation */
int ml_python_remote(pid_t pid, const struct ml_injection *injection, int32_t *ret_value,
                     struct ml_error *err);

#endif
