/* python_memory.h: reads words of the interpreter's memory by address.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_PYTHON_MEMORY_H
#define ML_PYTHON_MEMORY_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

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

#endif
