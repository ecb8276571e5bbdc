/* python_text.c: the text of a Python string, as UTF-8.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "compiler.h"
#include "python_memory.h"

/* Parts of a string's state: the size of its characters, and two flags. */
#define KIND(state) ((state) >> 2 & 7)
#define COMPACT (1u << 5)
#define ASCII (1u << 6)

/* The first of the characters that stand for bytes that could not be decoded. */
#define ESCAPED_FIRST 0xdc80
#define ESCAPED_LAST 0xdcff

static uint32_t character(uintptr_t data, unsigned kind, size_t i)
{
    uint16_t half;

    switch (kind) {
    case 1: return ml_python_byte(data + i);
    case 2: memcpy(&half, (const void *)(data + 2 * i), sizeof(half)); return half;
    default: return (uint32_t)ml_python_int(data + 4 * i);
    }
}

static unsigned encode(uint32_t c, uint8_t ret[4])
{
    unsigned more;

    if (c >= ESCAPED_FIRST && c <= ESCAPED_LAST)
        c -= ESCAPED_FIRST - 0x80;
    else if (c >= 0x80)
        goto long_form;
    ret[0] = (uint8_t)c;
    return 1;
long_form:
    more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    ret[0] = (uint8_t)(0xf0 << (3 - more) | c >> 6 * more);
    for (unsigned i = 1; i <= more; i++)
        ret[i] = (uint8_t)(0x80 | (c >> 6 * (more - i) & 0x3f));
    return 1 + more;
}

static size_t encode_all(uintptr_t data, unsigned kind, size_t length, char *ret, size_t bytes)
{
    size_t used = 0;

    for (size_t i = 0; i < length; i++) {
        uint8_t utf8[4];
        unsigned n = encode(character(data, kind, i), utf8);
        if (used + n > bytes)
            break;
        memcpy(ret + used, utf8, n);
        used += n;
    }
    return used;
}

size_t ml_python_text(const struct ml_python *py, uintptr_t object, char *ret, size_t bytes)
{
    const struct ml_python_layout *at = &py->layout;
    uint32_t state;
    size_t length;

    if (!ml_python_plausible(object) || !ml_python_is(object, py->text_type))
        return 0;
    state = (uint32_t)ml_python_int(object + at->text_state);
    length = ml_python_word(object + at->text_length);
    if (!(state & COMPACT))
        return 0;
    if (!(state & ASCII))
        return encode_all(object + at->text_other, KIND(state), length, ret, bytes);
    length = ml_min_u64(length, bytes);
    memcpy(ret, (const void *)(object + at->text_ascii), length);
    return length;
}
