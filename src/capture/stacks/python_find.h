/* python_find.h: finds the CPython that this process runs, if its version is known.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_PYTHON_FIND_H
#define ML_PYTHON_FIND_H

#include <stdbool.h>
#include <stdint.h>

#include "python_layout.h"

struct ml_python {
    struct ml_python_layout layout;
    void *(*thread_state)(void); /* the calling thread's; NULL: it runs no Python */
    int (*finalizing)(void);     /* other threads' states may be gone */
    uintptr_t loop;              /* the function that runs frames */
    uintptr_t code_type;
    uintptr_t text_type;
    uintptr_t bytes_type;
};

/* Looks for its symbols, which takes the loader's lock: call it once.
 * @return whether there is one whose layout is known: CPython 3.9 to 3.14 with a global lock, not
 *         PyPy */
bool ml_python_find(struct ml_python *ret);

#endif
