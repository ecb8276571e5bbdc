/* utf8.c: see utf8.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "utf8.h"

#include <stdbool.h>

#include "compiler.h"

struct range {
    uint32_t first, last;
};

/* The common blocks of zero-width marks and format characters. */
static const struct range no_columns[] = {
    {0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x0610, 0x061a},
    {0x064b, 0x065f}, {0x0e34, 0x0e3a}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff},
    {0x200b, 0x200f}, {0x202a, 0x202e}, {0x2060, 0x2069}, {0x20d0, 0x20ff},
    {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xfeff, 0xfeff}, {0xe0100, 0xe01ef},
};

/* The blocks that Unicode calls wide or full-width, and emoji. */
static const struct range two_columns[] = {
    {0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0x4dbf},   {0x4e00, 0xa4cf},
    {0xa960, 0xa97f},   {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f},
    {0xff00, 0xff60},   {0xffe0, 0xffe6},   {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff},
    {0x1f900, 0x1f9ff}, {0x1fa70, 0x1faff}, {0x20000, 0x3fffd},
};

/* What a first byte announces: the length of the sequence, its own bits of the character, and
 * the smallest character that needs that many bytes. */
static size_t promised(uint8_t first, uint32_t *ret_bits, uint32_t *ret_least)
{
    if (first >= 0xc2 && first <= 0xdf) {
        *ret_bits = first & 0x1f;
        *ret_least = 0x80;
        return 2;
    }
    if (first >= 0xe0 && first <= 0xef) {
        *ret_bits = first & 0x0f;
        *ret_least = 0x800;
        return 3;
    }
    if (first >= 0xf0 && first <= 0xf4) {
        *ret_bits = first & 0x07;
        *ret_least = 0x10000;
        return 4;
    }
    return 0;
}

size_t ml_utf8_decode(const char *s, size_t len, uint32_t *ret_codepoint)
{
    uint32_t codepoint, least;
    size_t bytes;

    if ((uint8_t)s[0] < 0x80) {
        *ret_codepoint = (uint8_t)s[0];
        return 1;
    }
    bytes = promised((uint8_t)s[0], &codepoint, &least);
    if (bytes == 0 || bytes > len)
        return 0;
    for (size_t i = 1; i < bytes; i++) {
        if (((uint8_t)s[i] & 0xc0) != 0x80)
            return 0;
        codepoint = codepoint << 6 | ((uint8_t)s[i] & 0x3f);
    }
    if (codepoint < least || codepoint > 0x10ffff || (codepoint >= 0xd800 && codepoint <= 0xdfff))
        return 0;
    *ret_codepoint = codepoint;
    return bytes;
}

size_t ml_utf8_encode(uint32_t codepoint, char *out)
{
    size_t bytes = codepoint < 0x80 ? 1 : codepoint < 0x800 ? 2 : codepoint < 0x10000 ? 3 : 4;
    static const uint8_t firsts[] = {0, 0x00, 0xc0, 0xe0, 0xf0};

    if (codepoint > 0x10ffff || (codepoint >= 0xd800 && codepoint <= 0xdfff))
        return ml_utf8_encode(0xfffd, out);
    for (size_t i = bytes - 1; i > 0; i--) {
        out[i] = (char)(0x80 | (codepoint & 0x3f));
        codepoint >>= 6;
    }
    out[0] = (char)(firsts[bytes] | codepoint);
    return bytes;
}

static bool in_ranges(const struct range *ranges, size_t count, uint32_t codepoint)
{
    for (size_t i = 0; i < count && ranges[i].first <= codepoint; i++)
        if (codepoint <= ranges[i].last)
            return true;
    return false;
}

static size_t columns_of(uint32_t codepoint)
{
    if (in_ranges(no_columns, ML_ARRAY_SIZE(no_columns), codepoint))
        return 0;
    return in_ranges(two_columns, ML_ARRAY_SIZE(two_columns), codepoint) ? 2 : 1;
}

/* Bytes of the first character, or 1 for an invalid byte, and its columns. */
static size_t step(const char *s, size_t len, size_t *ret_columns)
{
    uint32_t codepoint;
    size_t bytes = ml_utf8_decode(s, len, &codepoint);

    *ret_columns = bytes > 1 ? columns_of(codepoint) : 1;
    return bytes > 0 ? bytes : 1;
}

size_t ml_utf8_width(const char *s, size_t len)
{
    size_t width = 0;

    for (size_t at = 0; at < len;) {
        size_t columns;

        at += step(s + at, len - at, &columns);
        width += columns;
    }
    return width;
}

size_t ml_clip_utf8(const char *s, size_t len, size_t columns)
{
    size_t at = 0;

    while (at < len) {
        size_t need;
        size_t bytes = step(s + at, len - at, &need);

        if (need > columns)
            break;
        columns -= need;
        at += bytes;
    }
    return at;
}
