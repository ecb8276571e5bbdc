/* error.c: see error.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "utf8.h"

/* Length of the text when a sequence that the end cut in two is left out. */
static size_t whole_characters(const char *text, size_t len)
{
    size_t start = len;
    uint32_t codepoint;

    while (start > 0 && len - start < 3 && ((uint8_t)text[start - 1] & 0xc0) == 0x80)
        start--;
    if (start == 0 || (uint8_t)text[start - 1] < 0xc0)
        return len;
    start--;
    return ml_utf8_decode(text + start, len - start, &codepoint) ? len : start;
}

int ml_error_set(struct ml_error *err, int negative_errno, const char *fmt, ...)
{
    char text[sizeof(err->text)]; /* apart: arguments may point into err->text */
    va_list args;
    int len;

    if (!err)
        return negative_errno;
    va_start(args, fmt);
    len = vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    if (len < 0)
        text[0] = '\0';
    else if ((size_t)len >= sizeof(text))
        text[whole_characters(text, sizeof(text) - 1)] = '\0';
    memcpy(err->text, text, sizeof(text));
    err->code = negative_errno;
    return negative_errno;
}
