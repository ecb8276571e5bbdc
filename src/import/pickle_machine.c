/* pickle_machine.c: one opcode after another.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pickle_machine.h"

#include <errno.h>
#include <inttypes.h>

#include "varint.h"

/* Opcodes as Python's pickletools describes them. */
enum op {
    OP_MARK = '(',
    OP_STOP = '.',
    OP_POP = '0',
    OP_POP_MARK = '1',
    OP_DUP = '2',
    OP_BINFLOAT = 'G',
    OP_BININT = 'J',
    OP_BININT1 = 'K',
    OP_BININT2 = 'M',
    OP_NONE = 'N',
    OP_BINSTRING = 'T',
    OP_SHORT_BINSTRING = 'U',
    OP_BINUNICODE = 'X',
    OP_BINBYTES = 'B',
    OP_SHORT_BINBYTES = 'C',
    OP_APPEND = 'a',
    OP_APPENDS = 'e',
    OP_DICT = 'd',
    OP_LIST = 'l',
    OP_TUPLE = 't',
    OP_SETITEM = 's',
    OP_SETITEMS = 'u',
    OP_EMPTY_TUPLE = ')',
    OP_EMPTY_LIST = ']',
    OP_EMPTY_DICT = '}',
    OP_BINGET = 'h',
    OP_LONG_BINGET = 'j',
    OP_BINPUT = 'q',
    OP_LONG_BINPUT = 'r',
    OP_PROTO = 0x80,
    OP_TUPLE1 = 0x85,
    OP_TUPLE2 = 0x86,
    OP_TUPLE3 = 0x87,
    OP_NEWTRUE = 0x88,
    OP_NEWFALSE = 0x89,
    OP_LONG1 = 0x8a,
    OP_LONG4 = 0x8b,
    OP_SHORT_BINUNICODE = 0x8c,
    OP_BINUNICODE8 = 0x8d,
    OP_BINBYTES8 = 0x8e,
    OP_EMPTY_SET = 0x8f,
    OP_ADDITEMS = 0x90,
    OP_FROZENSET = 0x91,
    OP_MEMOIZE = 0x94,
    OP_FRAME = 0x95,
    OP_BYTEARRAY8 = 0x96,
};

#define PROTOCOL_LAST 5

/* ---- Bytes of the source --------------------------------------------------- */

/* Takes the next `len` bytes; NULL when there are fewer. */
static const uint8_t *take(struct ml_pickle_machine *m, size_t len, struct ml_error *err)
{
    struct ml_import_source *s = m->source;
    const uint8_t *bytes;
    size_t there;

    if (ML_UNLIKELY(s->len - s->at < len)) {
        if (ml_import_peek(s, len, &bytes, &there, err) < 0)
            return NULL;
        if (there < len) {
            ml_error_set(err, -EINVAL,
                         "%s: ends at byte %" PRIu64 " in the middle of the pickle; it was cut "
                         "short",
                         s->name, ml_import_offset(s) + there);
            return NULL;
        }
    }
    bytes = s->data + s->at;
    s->at += len;
    return bytes;
}

/* A number of 1, 2, 4 or 8 bytes. */
static int take_number(struct ml_pickle_machine *m, size_t len, uint64_t *ret, struct ml_error *err)
{
    const uint8_t *bytes = take(m, len, err);

    if (!bytes)
        return -EINVAL;
    switch (len) {
    case 1: *ret = bytes[0]; break;
    case 2: *ret = ml_load_u16(bytes); break;
    case 4: *ret = ml_load_u32(bytes); break;
    default: *ret = ml_load_u64(bytes); break;
    }
    return 0;
}

/* ---- Values ------------------------------------------------------------------ */

static int push_boxed(struct ml_pickle_machine *m, enum ml_pickle_tag tag, uint64_t bits,
                      struct ml_error *err)
{
    if (ml_vec_push(&m->numbers, bits) < 0)
        return ml_pickle_no_memory(m, err);
    return ml_pickle_push(m, ml_pickle_make(tag, m->numbers.len - 1), err);
}

static int push_int(struct ml_pickle_machine *m, int64_t value, struct ml_error *err)
{
    ml_pickle_value made = ml_pickle_make(ML_PICKLE_INT, (uint64_t)value);

    if (ML_LIKELY((int64_t)made >> ML_PICKLE_TAG_BITS == value))
        return ml_pickle_push(m, made, err);
    return push_boxed(m, ML_PICKLE_WIDE, (uint64_t)value, err);
}

/* Little-endian, of any length, with a sign. */
static int push_long(struct ml_pickle_machine *m, size_t length_bytes, struct ml_error *err)
{
    uint64_t len, value = 0;
    const uint8_t *bytes;
    int r = take_number(m, length_bytes, &len, err);

    if (r < 0)
        return r;
    if (len > ML_PICKLE_TEXT_MAX)
        return ml_pickle_bad(m, err, "a number of more than 16 MiB");
    bytes = take(m, (size_t)len, err);
    if (!bytes)
        return -EINVAL;
    if (len > 8)
        return ml_pickle_push(m, ml_pickle_make(ML_PICKLE_HUGE, 0), err);
    for (size_t i = 0; i < len; i++)
        value |= (uint64_t)bytes[i] << 8 * i;
    if (len > 0 && len < 8 && bytes[len - 1] & 0x80)
        value |= UINT64_MAX << 8 * len;
    return push_int(m, (int64_t)value, err);
}

static int push_float(struct ml_pickle_machine *m, struct ml_error *err)
{
    const uint8_t *bytes = take(m, 8, err);
    uint64_t bits = 0;

    if (!bytes)
        return -EINVAL;
    for (int i = 0; i < 8; i++)
        bits = bits << 8 | bytes[i];
    return push_boxed(m, ML_PICKLE_FLOAT, bits, err);
}

static int push_text(struct ml_pickle_machine *m, enum ml_pickle_tag tag, size_t length_bytes,
                     struct ml_error *err)
{
    const uint8_t *bytes;
    uint64_t len;
    int64_t number;
    int r = take_number(m, length_bytes, &len, err);

    if (r < 0)
        return r;
    if (len > ML_PICKLE_TEXT_MAX)
        return ml_pickle_bad(m, err,
                             "a text of more than 16 MiB; the file is damaged or has "
                             "another format");
    bytes = take(m, (size_t)len, err);
    if (!bytes)
        return -EINVAL;
    number = ml_intern_put(&m->texts, bytes, (size_t)len, NULL);
    if (number < 0)
        return ml_pickle_no_memory(m, err);
    return ml_pickle_push(m, ml_pickle_make(tag, (uint64_t)number), err);
}

static int push_number(struct ml_pickle_machine *m, size_t len, struct ml_error *err)
{
    uint64_t value = 0;
    int r = take_number(m, len, &value, err);

    return r < 0 ? r : push_int(m, len == 4 ? (int32_t)value : (int64_t)value, err);
}

static int do_put(struct ml_pickle_machine *m, size_t len, struct ml_error *err)
{
    uint64_t number = 0;
    int r = take_number(m, len, &number, err);

    return r < 0 ? r : ml_pickle_put(m, number, err);
}

static int do_get(struct ml_pickle_machine *m, size_t len, struct ml_error *err)
{
    uint64_t number = 0;
    int r = take_number(m, len, &number, err);

    return r < 0 ? r : ml_pickle_get(m, number, err);
}

static int check_protocol(struct ml_pickle_machine *m, struct ml_error *err)
{
    uint64_t version = 0;
    int r = take_number(m, 1, &version, err);

    if (r < 0)
        return r;
    if (version > PROTOCOL_LAST)
        return ml_error_set(err, -EINVAL,
                            "%s: byte %" PRIu64 ": pickle protocol %" PRIu64
                            " is not known; protocols 2 to 5 are read",
                            m->source->name, m->op_offset, version);
    return 0;
}

/* ---- The machine ------------------------------------------------------------- */

static int do_op(struct ml_pickle_machine *m, uint8_t op, struct ml_error *err)
{
    switch (op) {
    case OP_PROTO: return check_protocol(m, err);
    case OP_FRAME: return take(m, 8, err) ? 0 : -EINVAL; /* the frame's length is not needed */

    case OP_NONE: return ml_pickle_push(m, ml_pickle_make(ML_PICKLE_NONE, 0), err);
    case OP_NEWTRUE: return ml_pickle_push(m, ml_pickle_make(ML_PICKLE_BOOL, 1), err);
    case OP_NEWFALSE: return ml_pickle_push(m, ml_pickle_make(ML_PICKLE_BOOL, 0), err);
    case OP_BININT: return push_number(m, 4, err);
    case OP_BININT1: return push_number(m, 1, err);
    case OP_BININT2: return push_number(m, 2, err);
    case OP_LONG1: return push_long(m, 1, err);
    case OP_LONG4: return push_long(m, 4, err);
    case OP_BINFLOAT: return push_float(m, err);

    case OP_SHORT_BINUNICODE:
    case OP_SHORT_BINSTRING: return push_text(m, ML_PICKLE_TEXT, 1, err);
    case OP_BINUNICODE:
    case OP_BINSTRING: return push_text(m, ML_PICKLE_TEXT, 4, err);
    case OP_BINUNICODE8: return push_text(m, ML_PICKLE_TEXT, 8, err);
    case OP_SHORT_BINBYTES: return push_text(m, ML_PICKLE_BYTES, 1, err);
    case OP_BINBYTES: return push_text(m, ML_PICKLE_BYTES, 4, err);
    case OP_BINBYTES8:
    case OP_BYTEARRAY8: return push_text(m, ML_PICKLE_BYTES, 8, err);

    case OP_BINGET: return do_get(m, 1, err);
    case OP_LONG_BINGET: return do_get(m, 4, err);
    case OP_BINPUT: return do_put(m, 1, err);
    case OP_LONG_BINPUT: return do_put(m, 4, err);
    case OP_MEMOIZE: return ml_pickle_put(m, m->memo.len, err);

    case OP_MARK: return ml_pickle_mark(m, err);
    case OP_POP: return ml_pickle_pop(m, err);
    case OP_POP_MARK: return ml_pickle_pop_mark(m, err);
    case OP_DUP: return ml_pickle_dup(m, err);

    case OP_EMPTY_LIST: return ml_pickle_gather(m, ML_PICKLE_LIST, 0, err);
    case OP_EMPTY_DICT: return ml_pickle_gather(m, ML_PICKLE_DICT, 0, err);
    case OP_EMPTY_SET: return ml_pickle_gather(m, ML_PICKLE_SET, 0, err);
    case OP_EMPTY_TUPLE: return ml_pickle_gather(m, ML_PICKLE_TUPLE, 0, err);
    case OP_TUPLE1: return ml_pickle_gather(m, ML_PICKLE_TUPLE, 1, err);
    case OP_TUPLE2: return ml_pickle_gather(m, ML_PICKLE_TUPLE, 2, err);
    case OP_TUPLE3: return ml_pickle_gather(m, ML_PICKLE_TUPLE, 3, err);
    case OP_TUPLE: return ml_pickle_gather_marked(m, ML_PICKLE_TUPLE, err);
    case OP_LIST: return ml_pickle_gather_marked(m, ML_PICKLE_LIST, err);
    case OP_DICT: return ml_pickle_gather_marked(m, ML_PICKLE_DICT, err);
    case OP_FROZENSET: return ml_pickle_gather_marked(m, ML_PICKLE_SET, err);

    case OP_APPEND: return ml_pickle_extend(m, ML_PICKLE_LIST, 1, err);
    case OP_APPENDS: return ml_pickle_extend_marked(m, ML_PICKLE_LIST, err);
    case OP_SETITEM: return ml_pickle_extend(m, ML_PICKLE_DICT, 2, err);
    case OP_SETITEMS: return ml_pickle_extend_marked(m, ML_PICKLE_DICT, err);
    case OP_ADDITEMS: return ml_pickle_extend_marked(m, ML_PICKLE_SET, err);

    default: return ml_pickle_refuse(m, op, err);
    }
}

int ml_pickle_read(struct ml_pickle_machine *m, ml_pickle_value *ret, struct ml_error *err)
{
    for (;;) {
        const uint8_t *op;
        int r;

        m->op_offset = ml_import_offset(m->source);
        op = take(m, 1, err);
        if (!op)
            return err && err->code < 0 ? err->code : -EINVAL;
        if (*op == OP_STOP)
            break;
        r = do_op(m, *op, err);
        if (r < 0)
            return err && err->code < 0 ? err->code : r;
    }
    if (m->stack.len != 1 || m->marks.len != 0)
        return ml_pickle_bad(m, err,
                             "the pickle is damaged: it ends with a number of values "
                             "other than one");
    *ret = m->stack.items[0];
    return 0;
}

void ml_pickle_init(struct ml_pickle_machine *m, struct ml_import_source *source,
                    const struct ml_pickle_taker *taker)
{
    *m = (struct ml_pickle_machine){.source = source, .taker = taker};
}

void ml_pickle_release(struct ml_pickle_machine *m)
{
    ml_intern_release(&m->texts);
    ml_arena_release(&m->items);
    ml_vec_release(&m->numbers);
    ml_vec_release(&m->nodes);
    ml_vec_release(&m->stack);
    ml_vec_release(&m->marks);
    ml_vec_release(&m->memo);
}

int64_t ml_pickle_text(struct ml_pickle_machine *m, const char *text)
{
    return ml_intern_put(&m->texts, text, strlen(text), NULL);
}
