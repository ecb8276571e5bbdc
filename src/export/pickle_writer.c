/* pickle_writer.c: see pickle_writer.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pickle_writer.h"

#include <errno.h>
#include <string.h>

#include "printable.h"

#define PROTOCOL 4

/* Python's names and values of the opcodes. */
enum opcode {
    MARK = '(',
    STOP = '.',
    BININT = 'J',
    BININT1 = 'K',
    BININT2 = 'M',
    BINUNICODE = 'X',
    EMPTY_LIST = ']',
    APPENDS = 'e',
    BINGET = 'h',
    LONG_BINGET = 'j',
    SETITEMS = 'u',
    EMPTY_DICT = '}',
    PROTO = 0x80,
    TUPLE2 = 0x86,
    NEWFALSE = 0x89,
    LONG1 = 0x8a,
    SHORT_BINUNICODE = 0x8c,
    MEMOIZE = 0x94,
};

static void put(struct ml_pickle_writer *p, const void *bytes, size_t len)
{
    if (p->error == 0)
        p->error = ml_buf_append(&p->out->text, bytes, len);
}

/* An opcode and a little-endian number of so many bytes. */
static void put_op(struct ml_pickle_writer *p, enum opcode op, uint64_t value, size_t bytes)
{
    uint8_t text[9] = {(uint8_t)op};

    for (size_t i = 0; i < bytes; i++)
        text[1 + i] = (uint8_t)(value >> 8 * i);
    put(p, text, 1 + bytes);
}

/* ---- Begin and end ------------------------------------------------------ */

void ml_pickle_writer_open(struct ml_pickle_writer *p, struct ml_output *out)
{
    *p = (struct ml_pickle_writer){.out = out};
    put_op(p, PROTO, PROTOCOL, 1);
}

int ml_pickle_writer_close(struct ml_pickle_writer *p)
{
    put_op(p, STOP, 0, 0);
    return p->error;
}

void ml_pickle_writer_release(struct ml_pickle_writer *p)
{
    ml_intern_release(&p->words);
    ml_vec_release(&p->word_memos);
    ml_buf_release(&p->clean);
}

/* ---- Values ------------------------------------------------------------- */

/* LONG1 is signed, so a number with its top bit set needs a zero byte after it. */
static void put_long(struct ml_pickle_writer *p, uint64_t value)
{
    uint8_t text[9] = {0};
    size_t len = 8;

    for (size_t i = 0; i < 8; i++)
        text[i] = (uint8_t)(value >> 8 * i);
    while (text[len - 1] == 0)
        len--;
    len += text[len - 1] >> 7;
    put_op(p, LONG1, len, 1);
    put(p, text, len);
}

void ml_pickle_put_u64(struct ml_pickle_writer *p, uint64_t value)
{
    if (value <= UINT8_MAX)
        put_op(p, BININT1, value, 1);
    else if (value <= UINT16_MAX)
        put_op(p, BININT2, value, 2);
    else if (value <= INT32_MAX)
        put_op(p, BININT, value, 4);
    else
        put_long(p, value);
}

void ml_pickle_put_false(struct ml_pickle_writer *p)
{
    put_op(p, NEWFALSE, 0, 0);
}

void ml_pickle_put_text(struct ml_pickle_writer *p, const char *text, size_t len)
{
    ml_buf_clear(&p->clean);
    if (p->error == 0)
        p->error = ml_utf8_clean(text, len, &p->clean);
    if (p->clean.len <= UINT8_MAX)
        put_op(p, SHORT_BINUNICODE, p->clean.len, 1);
    else
        put_op(p, BINUNICODE, p->clean.len, 4);
    if (p->clean.len > 0)
        put(p, p->clean.data, p->clean.len);
}

void ml_pickle_put_word(struct ml_pickle_writer *p, const char *word)
{
    bool is_new = false;
    int64_t number = ml_intern_put(&p->words, word, strlen(word), &is_new);

    if (number < 0 || (is_new && ml_vec_push(&p->word_memos, p->remembered) < 0)) {
        p->error = p->error ? p->error : -ENOMEM;
        return;
    }
    if (!is_new) {
        ml_pickle_put_again(p, p->word_memos.items[number]);
        return;
    }
    ml_pickle_put_text(p, word, strlen(word));
    ml_pickle_put_remember(p);
}

/* ---- Containers --------------------------------------------------------- */

void ml_pickle_put_list(struct ml_pickle_writer *p)
{
    put_op(p, EMPTY_LIST, 0, 0);
}

void ml_pickle_put_dict(struct ml_pickle_writer *p)
{
    put_op(p, EMPTY_DICT, 0, 0);
}

void ml_pickle_put_mark(struct ml_pickle_writer *p)
{
    put_op(p, MARK, 0, 0);
}

static void finish(struct ml_pickle_writer *p, enum opcode op)
{
    put_op(p, op, 0, 0);
    if (p->error == 0)
        p->error = ml_output_line(p->out);
}

void ml_pickle_put_append(struct ml_pickle_writer *p)
{
    finish(p, APPENDS);
}

void ml_pickle_put_set(struct ml_pickle_writer *p)
{
    finish(p, SETITEMS);
}

void ml_pickle_put_pair(struct ml_pickle_writer *p)
{
    put_op(p, TUPLE2, 0, 0);
}

uint32_t ml_pickle_put_remember(struct ml_pickle_writer *p)
{
    put_op(p, MEMOIZE, 0, 0);
    return p->remembered++;
}

void ml_pickle_put_again(struct ml_pickle_writer *p, uint32_t number)
{
    if (number <= UINT8_MAX)
        put_op(p, BINGET, number, 1);
    else
        put_op(p, LONG_BINGET, number, 4);
}
