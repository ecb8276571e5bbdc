/* error.c: see error.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "printable.h"

int ml_error_set(struct ml_error *err, int negative_errno, const char *fmt, ...)
{
    char text[4 * sizeof(err->text)]; /* apart: arguments may point into err->text */
    va_list args;

    if (!err)
        return negative_errno;
    va_start(args, fmt);
    if (vsnprintf(text, sizeof(text), fmt, args) < 0)
        text[0] = '\0';
    va_end(args);
    ml_escape(err->text, sizeof(err->text), text, strlen(text));
    err->code = negative_errno;
    return negative_errno;
}
