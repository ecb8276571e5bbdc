/* printable.h: make text of unknown origin safe to print on a terminal, and valid UTF-8.
 *
 * File names, names of programs and names in a trace can contain escape sequences, line breaks
 * and marks that reorder the following text, and a terminal would obey them. Cells of tables
 * and reports show '?' instead (see table.h, style.h). Messages write them as \x1b, because
 * there they may be part of a path.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_BASE_PRINTABLE_H
#define ML_BASE_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vec.h"

/* Control characters, line separators, and marks that reorder the following text. */
static inline bool ml_is_unsafe(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x061c || c == 0x200e || c == 0x200f ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

/* Writes the text with each unsafe character and each byte that is not UTF-8 as \xNN, byte by
 * byte. A text too long for `out` is cut at a whole character or escape; `out` ends in a NUL.
 * @room   of `out`, at least 1
 * @return the bytes written, without the NUL */
size_t ml_escape(char *out, size_t room, const char *text, size_t len);

/* The same, appended to a buffer, but for the bytes in `keep`, such as "\n".
 * @return 0 or -ENOMEM */
int ml_escape_to(struct ml_buf *out, const char *text, size_t len, const char *keep);

/* Appends the text, with U+FFFD for each byte that is not UTF-8. @return 0 or -ENOMEM */
int ml_utf8_clean(const char *s, size_t len, struct ml_buf *out);

#endif
