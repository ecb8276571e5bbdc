/* env_number.h: a number in the environment, read without libc's conversions: the
 * library imports little.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ENV_NUMBER_H
#define ML_ENV_NUMBER_H

#include <stdint.h>
#include <stdlib.h>

/* The digits that the variable begins with; 0 when it has none, `otherwise` when it is
 * not set or empty. */
static inline uint32_t ml_env_number(const char *name, uint32_t otherwise)
{
    const char *text = getenv(name);
    uint32_t number = 0;

    if (!text || !*text)
        return otherwise;
    while (*text >= '0' && *text <= '9')
        number = number * 10 + (uint32_t)(*text++ - '0');
    return number;
}

#endif
