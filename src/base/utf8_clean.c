/* utf8_clean.c: see utf8_clean.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "utf8_clean.h"

#include "utf8.h"

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
