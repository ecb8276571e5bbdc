/* python_memory.h: reads words and strings of the interpreter's memory by address.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_PYTHON_MEMORY_H
#define ML_PYTHON_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "python_find.h"
#include "python_layout.h"

static inline uintptr_t ml_python_word(uintptr_t at)
{
    uintptr_t word;

    memcpy(&word, (const void *)at, sizeof(word));
    return word;
}

static inline int32_t ml_python_int(uintptr_t at)
{
    int32_t value;

    memcpy(&value, (const void *)at, sizeof(value));
    return value;
}

static inline uint8_t ml_python_byte(uintptr_t at)
{
    return *(const uint8_t *)at;
}

/* Whether an object of the interpreter can be there: addresses are aligned, below the kernel's and
 * above the first page. */
static inline bool ml_python_plausible(uintptr_t at)
{
    return at >= 4096 && !(at >> 47) && !(at & 7);
}

static inline bool ml_python_is(uintptr_t object, uintptr_t type)
{
    return ml_python_word(object + ML_PYTHON_TYPE) == type;
}

/* Up to `bytes` bytes of a string, as UTF-8. Bytes of a file name that could not be decoded are
 * returned unchanged.
 * @return how many; 0 if the object is not a string */
size_t ml_python_text(const struct ml_python *py, uintptr_t object, char *ret, size_t bytes);

#endif
