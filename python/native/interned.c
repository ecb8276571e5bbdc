/* interned.c: see interned.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "interned.h"

struct ml_interned ml_str;

int ml_native_add_interned(PyObject *module)
{
    (void)module;
#define INTERN(name)                                                                               \
    if (!ml_str.name)                                                                              \
        ml_str.name = PyUnicode_InternFromString(#name);                                           \
    if (!ml_str.name)                                                                              \
        return -1;
    ML_INTERNED(INTERN)
#undef INTERN
    return 0;
}
