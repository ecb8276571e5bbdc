/* def_columns.c: see def_columns.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "def_columns.h"

#include <stdbool.h>
#include <string.h>

#include "block.h"
#include "defs.h"
#include "varint.h"

/* A record has its number and its fields; a string its number and its length, and all bytes of
 * strings are behind the columns. */
#define SLOTS (1 + ML_DEF_FIELDS)

/* A byte of a column becomes a number of at most ten bytes in a record. */
#define GROWTH_MAX ML_VARINT_MAX

struct column {
    size_t bytes;
    const uint8_t *in;
    const uint8_t *end;
    uint8_t *out;
    uint64_t last; /* number */
};

struct columns {
    struct column at[ML_DEF_TAGS][SLOTS];
};

static int slots_of(uint8_t tag)
{
    return tag == ML_DEF_STRING ? 2 : 1 + ml_def_field_count(tag);
}

/* What a number is stored as the difference to. Numbers of records rise by one. Neighbouring stacks
 * are often each other's callers. The frames of stacks, like most others, come in no order. */
enum comparison { WITH_NOTHING, WITH_LAST, WITH_NEXT_OF_LAST, WITH_OWN_NUMBER };

static enum comparison comparison(uint8_t tag, int slot)
{
    if (slot == 0)
        return WITH_NEXT_OF_LAST;
    if (tag == ML_DEF_STACK && slot == 1 + ML_STACK_CALLER)
        return WITH_OWN_NUMBER;
    if ((tag == ML_DEF_FRAME && slot == 1 + ML_FRAME_WHAT) ||
        (tag == ML_DEF_SYMBOL && slot == 1 + ML_SYMBOL_FUNCTION) ||
        (tag == ML_DEF_SCOPE && slot == 1 + ML_SCOPE_PARENT))
        return WITH_LAST;
    return WITH_NOTHING;
}

static uint64_t fold(uint64_t value, enum comparison with, uint64_t last, uint32_t own)
{
    switch (with) {
    case WITH_LAST: return ml_zigzag((int64_t)(value - last));
    case WITH_NEXT_OF_LAST: return ml_zigzag((int64_t)(value - last - 1));
    case WITH_OWN_NUMBER: return ml_zigzag((int64_t)(value - own));
    default: return value;
    }
}

static uint64_t unfold(uint64_t folded, enum comparison with, uint64_t last, uint32_t own)
{
    switch (with) {
    case WITH_LAST: return last + (uint64_t)ml_unzigzag(folded);
    case WITH_NEXT_OF_LAST: return last + 1 + (uint64_t)ml_unzigzag(folded);
    case WITH_OWN_NUMBER: return own + (uint64_t)ml_unzigzag(folded);
    default: return folded;
    }
}

static uint64_t value_of(const struct ml_def *def, int slot)
{
    if (slot == 0)
        return def->id;
    return def->tag == ML_DEF_STRING ? def->len : def->fields[slot - 1];
}

/* ---- Writing ------------------------------------------------------------- */

size_t ml_def_columns_room(size_t records_bytes)
{
    return 2 * records_bytes + (2 + ML_DEF_TAGS * (1 + SLOTS)) * (size_t)ML_VARINT_MAX;
}

/* Visits each number of the records: the first time to add the bytes of the columns up, the second
 * time to write them. @return false if there is a record that columns cannot have */
static bool visit(struct columns *cols, const uint8_t *records, const uint8_t *end, uint8_t *tags,
                  uint8_t **strings)
{
    struct ml_def def;

    while (records < end) {
        records = ml_def_get(records, end, &def);
        if (!records || def.tag >= ML_DEF_TAGS)
            return false;
        for (int slot = 0; slot < slots_of(def.tag); slot++) {
            struct column *c = &cols->at[def.tag][slot];
            uint64_t value = value_of(&def, slot);
            uint64_t folded = fold(value, comparison(def.tag, slot), c->last, def.id);

            c->last = value;
            if (strings)
                c->out = ml_varint_put(c->out, folded);
            else
                c->bytes += ml_varint_len(folded);
        }
        if (!strings)
            continue;
        *tags++ = def.tag;
        memcpy(*strings, def.bytes ? def.bytes : "", def.len);
        *strings += def.len;
    }
    return true;
}

static size_t count_records(const uint8_t *records, const uint8_t *end)
{
    size_t count = 0;
    struct ml_def def;

    while (records < end && (records = ml_def_get(records, end, &def)))
        count++;
    return count;
}

/* The lengths of the columns. @return the byte after them */
static uint8_t *put_lengths(uint8_t *out, const struct columns *cols)
{
    for (uint8_t tag = 1; tag < ML_DEF_TAGS; tag++) {
        const struct column *c = cols->at[tag];

        out = ml_varint_put(out, c[0].bytes);
        for (int slot = 1; slot < slots_of(tag) && c[0].bytes; slot++)
            out = ml_varint_put(out, c[slot].bytes);
    }
    return out;
}

/* Gives each column its place. @return the byte after them */
static uint8_t *place_columns(uint8_t *out, struct columns *cols)
{
    for (uint8_t tag = 1; tag < ML_DEF_TAGS; tag++) {
        for (int slot = 0; slot < slots_of(tag); slot++) {
            struct column *c = &cols->at[tag][slot];

            c->out = out;
            c->last = 0;
            out += c->bytes;
        }
    }
    return out;
}

size_t ml_def_columns_put(uint8_t *out, const uint8_t *records, size_t len)
{
    size_t count = count_records(records, records + len);
    struct columns cols = {0};
    uint8_t *tags, *strings;

    if (!visit(&cols, records, records + len, NULL, NULL))
        return 0;
    tags = ml_varint_put(out, len);
    tags = ml_varint_put(tags, count);
    tags = put_lengths(tags, &cols);
    strings = place_columns(tags + count, &cols);
    visit(&cols, records, records + len, tags, &strings);
    return (size_t)(strings - out);
}

/* ---- Reading ------------------------------------------------------------- */

struct source {
    struct columns cols;
    const uint8_t *tags;
    uint64_t count;
    const uint8_t *strings;
    const uint8_t *end;
    size_t records_bytes;
};

static size_t room_of(uint64_t records_bytes)
{
    return (size_t)records_bytes + ml_def_room(&(struct ml_def){0});
}

size_t ml_def_columns_records_room(const uint8_t *in, size_t len)
{
    uint64_t bytes;

    if (!ml_varint_get(in, in + len, &bytes) || bytes > ML_BLOCK_MAX_BYTES ||
        bytes > GROWTH_MAX * len)
        return 0;
    return room_of(bytes);
}

static const uint8_t *get_length(const uint8_t *in, const uint8_t *end, struct column *c)
{
    uint64_t bytes = 0;

    in = ml_varint_get(in, end, &bytes);
    if (!in || bytes > ML_BLOCK_MAX_BYTES)
        return NULL;
    c->bytes = (size_t)bytes;
    return in;
}

/* @return the byte after the lengths, NULL if they are damaged */
static const uint8_t *get_lengths(const uint8_t *in, const uint8_t *end, struct columns *cols)
{
    for (uint8_t tag = 1; in && tag < ML_DEF_TAGS; tag++) {
        struct column *c = cols->at[tag];

        in = get_length(in, end, &c[0]);
        for (int slot = 1; in && slot < slots_of(tag) && c[0].bytes; slot++)
            in = get_length(in, end, &c[slot]);
    }
    return in;
}

/* @return false if the columns do not fit into the bytes */
static bool find_columns(struct source *s, const uint8_t *in)
{
    uint64_t bytes;

    in = ml_varint_get(in, s->end, &bytes);
    in = in ? ml_varint_get(in, s->end, &s->count) : NULL;
    in = in ? get_lengths(in, s->end, &s->cols) : NULL;
    if (!in || s->count > (uint64_t)(s->end - in))
        return false;
    s->records_bytes = (size_t)bytes;
    s->tags = in;
    in += s->count;
    for (uint8_t tag = 1; tag < ML_DEF_TAGS; tag++) {
        for (int slot = 0; slot < slots_of(tag); slot++) {
            struct column *c = &s->cols.at[tag][slot];

            if (c->bytes > (size_t)(s->end - in))
                return false;
            c->in = in;
            c->end = in += c->bytes;
        }
    }
    s->strings = in;
    return true;
}

static bool take_value(struct ml_def *def, int slot, struct column *c)
{
    uint64_t value;

    c->in = ml_varint_get(c->in, c->end, &value);
    if (!c->in)
        return false;
    c->last = value = unfold(value, comparison(def->tag, slot), c->last, def->id);
    if (slot > 0 && def->tag != ML_DEF_STRING) {
        def->fields[slot - 1] = value;
        return true;
    }
    *(slot ? &def->len : &def->id) = (uint32_t)value;
    return value < (slot ? ML_STRING_MAX_BYTES + 1 : ML_ID_MAX);
}

/* @return false if a column has too few numbers, or a number is too large */
static bool take_record(struct source *s, struct ml_def *def)
{
    for (int slot = 0; slot < slots_of(def->tag); slot++) {
        if (!take_value(def, slot, &s->cols.at[def->tag][slot]))
            return false;
    }
    if (def->len > (size_t)(s->end - s->strings))
        return false;
    def->bytes = (const char *)s->strings;
    s->strings += def->len;
    return true;
}

static bool all_is_used(const struct source *s)
{
    for (uint8_t tag = 1; tag < ML_DEF_TAGS; tag++) {
        for (int slot = 0; slot < slots_of(tag); slot++) {
            if (s->cols.at[tag][slot].in != s->cols.at[tag][slot].end)
                return false;
        }
    }
    return s->strings == s->end;
}

size_t ml_def_columns_get(const uint8_t *in, size_t len, uint8_t *out)
{
    struct source s = {.end = in + len};
    uint8_t *at = out, *room_end;

    if (!find_columns(&s, in))
        return 0;
    room_end = out + room_of(s.records_bytes);
    for (uint64_t i = 0; i < s.count; i++) {
        struct ml_def def = {.tag = s.tags[i]};

        if (!def.tag || def.tag >= ML_DEF_TAGS || !take_record(&s, &def) ||
            ml_def_room(&def) > (size_t)(room_end - at))
            return 0;
        at = ml_def_put(at, &def);
    }
    return all_is_used(&s) && (size_t)(at - out) == s.records_bytes ? s.records_bytes : 0;
}
