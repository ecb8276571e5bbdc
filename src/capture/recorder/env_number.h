/* env_number.h: a number from the environment, read without libc's conversions, because the library
 * imports little.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ENV_NUMBER_H
#define ML_ENV_NUMBER_H

#include <stdint.h>
#include <stdlib.h>

/* The digits at the start of the variable's value; 0 when there are none, `otherwise` when the
 * variable is unset or empty. */
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
