/* python_text.h: the text of a Python string, as UTF-8.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_PYTHON_TEXT_H
#define ML_PYTHON_TEXT_H

#include <stddef.h>

#include "python_find.h"

/* Up to `bytes` bytes of it. Bytes of a file name that could not be decoded are returned unchanged.
 * @return how many; 0 if the object is not a string */
size_t ml_python_text(const struct ml_python *py, uintptr_t object, char *ret, size_t bytes);

#endif
