/* python_text.h: the text of a Python string, as UTF-8.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_PYTHON_TEXT_H
#define ML_PYTHON_TEXT_H

#include <stddef.h>

#include "python_find.h"

/* Up to `bytes` of it. Bytes of a file name that are no text come back as they are.
 * @return how many; 0 for what is no string, too */
size_t ml_python_text(const struct ml_python *py, uintptr_t object, char *ret, size_t bytes);

#endif
