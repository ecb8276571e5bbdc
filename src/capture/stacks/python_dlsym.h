/* python_dlsym.h: notices a Python that the program loads while it runs.
 *
 * Programs with a Python inside (editors, databases) look functions up in its library, and an
 * interpreter those of its extensions (PyInit_…), by dlsym. There the loader may be asked for
 * Python; inside malloc it may not.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_PYTHON_DLSYM_H
#define ML_PYTHON_DLSYM_H

#include "dlsym_hook.h"

/* Hooks nothing. */
extern const struct ml_dlsym_provider ml_python_dlsym;

#endif
