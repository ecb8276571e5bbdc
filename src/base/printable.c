/* printable.c: see printable.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "printable.h"

#include <string.h>

#include "utf8.h"

#define ESCAPED_BYTES 4 /* of \xNN */

/* The printable form of the first character, at most 4 * ML_UTF8_MAX_BYTES long.
 * @return the number of bytes it takes in the text */
static size_t show_first(const char *text, size_t len, char *out, size_t *ret_len)
{
    static const char digits[] = "0123456789abcdef";
    uint32_t c = 0;
    size_t bytes = ml_utf8_decode(text, len, &c);
    bool unsafe = !bytes || ml_is_unsafe(c);

    bytes = bytes ? bytes : 1;
    *ret_len = unsafe ? bytes * ESCAPED_BYTES : bytes;
    for (size_t i = 0; i < bytes; i++) {
        uint8_t byte = (uint8_t)text[i];
        if (unsafe)
            memcpy(out + i * ESCAPED_BYTES,
                   (char[]){'\\', 'x', digits[byte >> 4], digits[byte & 15]}, ESCAPED_BYTES);
        else
            out[i] = text[i];
    }
    return bytes;
}

size_t ml_escape(char *out, size_t room, const char *text, size_t len)
{
    char shown[ESCAPED_BYTES * ML_UTF8_MAX_BYTES];
    size_t at = 0, bytes;

    while (len > 0) {
        size_t taken = show_first(text, len, shown, &bytes);
        if (at + bytes >= room)
            break;
        memcpy(out + at, shown, bytes);
        at += bytes;
        text += taken;
        len -= taken;
    }
    out[at] = '\0';
    return at;
}

int ml_escape_to(struct ml_buf *out, const char *text, size_t len, const char *keep)
{
    char shown[ESCAPED_BYTES * ML_UTF8_MAX_BYTES];
    int r = 0;

    while (len > 0 && r == 0) {
        bool kept = *text && strchr(keep, *text);
        size_t bytes = 1;
        size_t taken = kept ? 1 : show_first(text, len, shown, &bytes);
        r = ml_buf_append(out, kept ? text : shown, bytes);
        text += taken;
        len -= taken;
    }
    return r;
}

int ml_utf8_clean(const char *s, size_t len, struct ml_buf *out)
{
    for (size_t at = 0; at < len;) {
        uint32_t codepoint;
        size_t n = ml_utf8_decode(s + at, len - at, &codepoint);
        int r = n > 0 ? ml_buf_append(out, s + at, n) : ml_buf_puts(out, ML_UTF8_REPLACEMENT);

        if (r < 0)
            return r;
        at += n > 0 ? n : 1;
    }
    return 0;
}
