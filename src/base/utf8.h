/* utf8.h: walk UTF-8 text that may be invalid, and measure its width on a terminal.
 *
 * Names in a trace come from anywhere, so nothing here trusts its input: a byte that belongs to
 * no valid sequence (overlong, surrogate, above U+10FFFF, cut short) counts as one character of
 * one column. Independent of the locale.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_BASE_UTF8_H
#define ML_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* U+FFFD, which replaces an invalid byte. */
#define ML_UTF8_REPLACEMENT "\xef\xbf\xbd"

/* The first character of s, where len is at least 1.
 * @ret_codepoint  set when valid
 * @return its bytes, 1 to 4; 0 when the first byte starts no valid sequence */
size_t ml_utf8_decode(const char *s, size_t len, uint32_t *ret_codepoint);

#define ML_UTF8_MAX_BYTES 4

/* Writes a character's bytes to `out`, which has room for ML_UTF8_MAX_BYTES; an invalid code
 * point (a surrogate, above U+10FFFF) becomes U+FFFD.
 * @return the bytes written, 1 to 4 */
size_t ml_utf8_encode(uint32_t codepoint, char *out);

/* The width of the text on a terminal in columns: 0 for combining marks, 2 for wide East Asian
 * characters and emoji, 1 for the rest, control characters included. */
size_t ml_utf8_width(const char *s, size_t len);

/* The longest prefix of s that fits into `columns`, never cut inside a sequence.
 * @return bytes, at most len */
size_t ml_clip_utf8(const char *s, size_t len, size_t columns);

#endif
