/* float_text.c: see float_text.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "float_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS_MAX 17 /* enough for every double */

const char *ml_format_python_float(char buf[32], double value)
{
    char *mark;
    int exponent, precision = 0;

    do
        snprintf(buf, 32, "%.*e", precision, value);
    while (strtod(buf, NULL) != value && ++precision < DIGITS_MAX);
    mark = strchr(buf, 'e');
    exponent = atoi(mark + 1);
    if (exponent < -4 || exponent >= 16)
        return buf;
    snprintf(buf, 32, "%.*f", precision > exponent ? precision - exponent : 1, value);
    return buf;
}
