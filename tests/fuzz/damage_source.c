/* damage_source.c: files of other programs with their structure kept: numbers, words and
 * lines of texts, opcodes of pickles, fields of Protocol Buffers are changed as a whole.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz.h"

#include <ctype.h>
#include <string.h>

#include "varint.h"

/* Replace the bytes from `at` to `end` by `len` others. */
static int replace(struct ml_buf *b, size_t at, size_t end, const void *bytes, size_t len)
{
    size_t tail = b->len - end;

    if (ml_buf_reserve(b, len))
        return -ENOMEM;
    memmove(b->data + at + len, b->data + end, tail);
    memcpy(b->data + at, bytes, len);
    b->len = at + len + tail;
    return 0;
}

/* ---- Text --------------------------------------------------------------- */

static bool in_number(int c)
{
    return isdigit(c) || c == '.';
}

static bool in_word(int c)
{
    return isalnum(c) || c == '_';
}

/* A piece of the text, all of whose characters are `of`, at or behind a random place.
 * @return false: there is none */
static bool find_piece(struct fuzz_random *r, const struct ml_buf *b, bool (*of)(int),
                       size_t *ret_at, size_t *ret_end)
{
    size_t at = fuzz_below(r, b->len);

    while (at < b->len && !of(b->data[at]))
        at++;
    *ret_at = *ret_end = at;
    while (*ret_end < b->len && of(b->data[*ret_end]))
        ++*ret_end;
    return *ret_end > at;
}

static int change_number(struct fuzz_random *r, struct ml_buf *b)
{
    static const char *const numbers[] = {
        "-1", "0",   "0.5",  "1e308", "1e-320", "nan", "inf", "99999999999999999999999999",
        "",   "1.0", "-0.0", "null",
    };
    char text[32];
    size_t at, end;

    if (!find_piece(r, b, in_number, &at, &end))
        return 0;
    if (fuzz_below(r, 3) == 0) {
        const char *number = numbers[fuzz_below(r, sizeof(numbers) / sizeof(numbers[0]))];

        return replace(b, at, end, number, strlen(number));
    }
    snprintf(text, sizeof(text), "%llu",
             fuzz_below(r, 2) ? (unsigned long long)fuzz_edge_number(r)
                              : (unsigned long long)fuzz_below(r, 4096));
    return replace(b, at, end, text, strlen(text));
}

/* One word of the text becomes another one of it, or of the other. */
static int change_word(struct fuzz_random *r, struct ml_buf *b, const struct ml_buf *other)
{
    char word[64];
    size_t at, end, from, to;
    const struct ml_buf *source = fuzz_below(r, 4) ? b : other;

    if (!source->len || !find_piece(r, source, in_word, &from, &to) || to - from > sizeof(word))
        return 0;
    memcpy(word, source->data + from, to - from);
    if (!find_piece(r, b, in_word, &at, &end))
        return 0;
    return replace(b, at, end, word, to - from);
}

/* From a random place to behind the next of the characters that end pieces of texts. */
static bool find_part(struct fuzz_random *r, const struct ml_buf *b, size_t *ret_at,
                      size_t *ret_end)
{
    static const char ends[] = {'\n', '}', ',', ']'};
    char by = ends[fuzz_below(r, sizeof(ends))];
    size_t at = fuzz_below(r, b->len), end;

    while (at > 0 && b->data[at - 1] != by)
        at--;
    for (end = at; end < b->len && b->data[end] != by; end++)
        ;
    *ret_at = at;
    *ret_end = end + (end < b->len);
    return *ret_end > at;
}

static int move_part(struct fuzz_random *r, struct ml_buf *b, size_t most)
{
    size_t at, end, to, unused;
    struct ml_buf part = {0};
    int code = 0;

    if (!find_part(r, b, &at, &end))
        return 0;
    if (fuzz_below(r, 3) == 0)
        return replace(b, at, end, "", 0);
    if (b->len + (end - at) > most || !find_part(r, b, &to, &unused))
        return 0;
    code = ml_buf_append(&part, b->data + at, end - at);
    if (!code)
        code = replace(b, to, to, part.data, part.len);
    ml_buf_release(&part);
    return code;
}

static int damage_text(struct fuzz_random *r, struct ml_buf *b, const struct ml_buf *other,
                       size_t most)
{
    switch (fuzz_below(r, 4)) {
    case 0: return change_word(r, b, other);
    case 1: return move_part(r, b, most);
    default: return change_number(r, b);
    }
}

/* ---- Pickles ------------------------------------------------------------ */

/* Bytes of the opcode at `at` and of its argument; what is not known is one byte. */
static size_t opcode_len(const struct ml_buf *b, size_t at)
{
    size_t left = b->len - at, len;

    switch (b->data[at]) {
    case 0x80: /* PROTO */
    case 'K':  /* BININT1 */
    case 'q':  /* BINPUT */
    case 'h': len = 2; break;
    case 'M': len = 3; break;
    case 'J': /* BININT */
    case 'r':
    case 'j': len = 5; break;
    case 'G':                                                           /* BINFLOAT */
    case 0x95: len = 9; break;                                          /* FRAME */
    case 0x8a:                                                          /* LONG1 */
    case 0x8c: len = left > 1 ? 2 + (size_t)b->data[at + 1] : 1; break; /* SHORT_BINUNICODE */
    case 'X': len = left > 4 ? 5 + (size_t)ml_load_u32(b->data + at + 1) : 1; break;
    default: len = 1;
    }
    return len < left ? len : left;
}

static bool is_integer(uint8_t opcode)
{
    return opcode == 'K' || opcode == 'M' || opcode == 'J' || opcode == 0x8a;
}

static bool is_string(uint8_t opcode)
{
    return opcode == 'X' || opcode == 0x8c;
}

/* The first opcode of this sort at or behind a random one. */
static bool find_opcode(struct fuzz_random *r, const struct ml_buf *b, bool (*of)(uint8_t),
                        size_t *ret_at, size_t *ret_end)
{
    size_t skip = fuzz_below(r, b->len);

    for (size_t at = 0, len; at < b->len; at += len) {
        len = opcode_len(b, at);
        if (at >= skip && of(b->data[at])) {
            *ret_at = at;
            *ret_end = at + len;
            return true;
        }
    }
    return false;
}

static int change_integer(struct fuzz_random *r, struct ml_buf *b)
{
    uint64_t value = fuzz_below(r, 2) ? fuzz_edge_number(r) : fuzz_below(r, 4096);
    uint8_t opcode[11] = {0x8a, 9};
    size_t at, end;

    if (!find_opcode(r, b, is_integer, &at, &end))
        return 0;
    ml_store_u64(opcode + 2, value);
    opcode[10] = fuzz_below(r, 8) ? 0 : 0xff; /* below 0 */
    return replace(b, at, end, opcode, sizeof(opcode));
}

static int change_string(struct fuzz_random *r, struct ml_buf *b, const struct ml_buf *other)
{
    const struct ml_buf *source = fuzz_below(r, 4) ? b : other;
    size_t at, end, from, to;
    struct ml_buf string = {0};
    int code = 0;

    if (!source->len || !find_opcode(r, source, is_string, &from, &to) ||
        !find_opcode(r, b, is_string, &at, &end))
        return 0;
    code = ml_buf_append(&string, source->data + from, to - from);
    if (!code)
        code = replace(b, at, end, string.data, string.len);
    ml_buf_release(&string);
    return code;
}

static bool is_frame(uint8_t opcode)
{
    return opcode == 0x95;
}

/* Its length would be wrong afterwards, and pickles need none. */
static int drop_frame(struct fuzz_random *r, struct ml_buf *b)
{
    size_t at, end;

    return b->len > 2 && b->data[2] == 0x95 && find_opcode(r, b, is_frame, &at, &end)
               ? replace(b, at, end, "", 0)
               : 0;
}

static int damage_pickle(struct fuzz_random *r, struct ml_buf *b, const struct ml_buf *other)
{
    int code = drop_frame(r, b);

    if (code || !b->len)
        return code;
    return fuzz_below(r, 3) ? change_integer(r, b) : change_string(r, b, other);
}

/* ---- Protocol Buffers --------------------------------------------------- */

/* Copies a message, with number `*left` of its varints, counted down, changed. */
struct copier {
    struct fuzz_random *r;
    size_t left;
    int code;
};

static void put_varint(struct copier *c, struct ml_buf *out, uint64_t v)
{
    uint8_t bytes[ML_VARINT_MAX];

    if (!c->code)
        c->code = ml_buf_append(out, bytes, (size_t)(ml_varint_put(bytes, v) - bytes));
}

static bool copy_message(struct copier *c, const uint8_t *at, const uint8_t *end,
                         struct ml_buf *out, unsigned depth);

/* A field of bytes: a message of its own, or else kept as it is. */
static void copy_bytes(struct copier *c, const uint8_t *at, size_t len, struct ml_buf *out,
                       unsigned depth)
{
    struct ml_buf inner = {0};
    struct copier before = *c;

    if (depth < 2 && copy_message(c, at, at + len, &inner, depth + 1)) {
        at = inner.data;
        len = inner.len;
    } else {
        c->left = before.left;
    }
    put_varint(c, out, len);
    if (!c->code)
        c->code = ml_buf_append(out, at, len);
    ml_buf_release(&inner);
}

static bool copy_message(struct copier *c, const uint8_t *at, const uint8_t *end,
                         struct ml_buf *out, unsigned depth)
{
    while (at < end && !c->code) {
        uint64_t tag, value;

        at = ml_varint_get(at, end, &tag);
        if (!at || (tag & 7 && (tag & 7) != 2) || !(at = ml_varint_get(at, end, &value)))
            return false;
        put_varint(c, out, tag);
        if ((tag & 7) == 2) {
            if (value > (size_t)(end - at))
                return false;
            copy_bytes(c, at, value, out, depth);
            at += value;
        } else {
            if (c->left-- == 0)
                value = fuzz_below(c->r, 2) ? fuzz_edge_number(c->r) : fuzz_below(c->r, 64);
            put_varint(c, out, value);
        }
    }
    return true;
}

static int damage_message(struct fuzz_random *r, struct ml_buf *b)
{
    struct copier c = {.r = r, .left = fuzz_below(r, 64)};
    struct ml_buf copy = {0};

    if (copy_message(&c, b->data, b->data + b->len, &copy, 0) && !c.code)
        c.code = replace(b, 0, b->len, copy.data, copy.len);
    ml_buf_release(&copy);
    return c.code;
}

/* ---- Any of them -------------------------------------------------------- */

static bool is_text(const struct ml_buf *b)
{
    for (size_t i = 0; i < b->len && i < 64; i++)
        if (b->data[i] < ' ' && !isspace(b->data[i]))
            return false;
    return true;
}

int fuzz_damage_source(struct fuzz_random *r, struct ml_buf *b, const struct ml_buf *other,
                       size_t most)
{
    size_t times = 1 + fuzz_below(r, 6);
    bool text = is_text(b), pickle = b->len && b->data[0] == 0x80;
    int code = 0;

    while (!code && b->len && times--)
        code = text     ? damage_text(r, b, other, most)
               : pickle ? damage_pickle(r, b, other)
                        : damage_message(r, b);
    return code;
}
