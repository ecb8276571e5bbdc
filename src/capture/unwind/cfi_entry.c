/* cfi_entry.c: see cfi_entry.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cfi_entry.h"

#include <stddef.h>

#define HEADER_VERSION 1
#define LONG_LENGTH 0xffffffff /* begins an entry of the 64-bit format, which no linker writes */

/* The only form of the table that linkers write: pairs of 32-bit distances from the header. */
#define TABLE_ENCODING (ML_PE_RELATIVE_TO_HEADER | ML_PE_S32)

struct function {
    int32_t begin;
    int32_t entry;
};

struct table {
    const uint8_t *functions;
    uint64_t count;
};

/* ---- .eh_frame_hdr ------------------------------------------------------------- */

static bool read_header(const struct ml_cfi_sections *s, struct table *ret)
{
    struct ml_cfi_bytes b = {(const uint8_t *)s->header, (const uint8_t *)s->header_end, false};
    uint8_t version = ml_cfi_byte(&b);
    uint8_t frames_encoding = ml_cfi_byte(&b);
    uint8_t count_encoding = ml_cfi_byte(&b);
    uint8_t table_encoding = ml_cfi_byte(&b);

    if (version != HEADER_VERSION || table_encoding != TABLE_ENCODING ||
        count_encoding == ML_PE_OMITTED)
        return false;
    ml_cfi_value(&b, frames_encoding);
    ret->count = ml_cfi_value(&b, count_encoding);
    ret->functions = b.at;
    return !b.failed && ret->count <= (uint64_t)(b.end - b.at) / sizeof(struct function);
}

static struct function function_at(const struct table *t, uint64_t i)
{
    struct function f;

    memcpy(&f, t->functions + i * sizeof(f), sizeof(f));
    return f;
}

/* The last function that begins at or before the address. @return its entry's address, 0: none */
static uintptr_t search(const struct ml_cfi_sections *s, const struct table *t, uintptr_t address)
{
    int64_t distance = (int64_t)(address - s->header);
    uint64_t from = 0, to = t->count;

    while (from < to) {
        uint64_t middle = from + (to - from) / 2;
        if (function_at(t, middle).begin <= distance)
            from = middle + 1;
        else
            to = middle;
    }
    return from ? s->header + (uintptr_t)(intptr_t)function_at(t, from - 1).entry : 0;
}

/* ---- .eh_frame ------------------------------------------------------------------ */

/* The bytes of the entry at this address, after its length. */
static bool entry_bytes(const struct ml_cfi_sections *s, uintptr_t at, struct ml_cfi_bytes *ret)
{
    uint64_t length;

    if (at < s->loaded || at >= s->loaded_end)
        return false;
    *ret = (struct ml_cfi_bytes){(const uint8_t *)at, (const uint8_t *)s->loaded_end, false};
    length = ml_cfi_number(ret, 4);
    if (ret->failed || !length || length == LONG_LENGTH || length > (uint64_t)(ret->end - ret->at))
        return false;
    ret->end = ret->at + length;
    return true;
}

/* The letters say which data follow; those after an unknown letter cannot be read. */
static void read_augmentation(const char *letters, struct ml_cfi_bytes *b, struct ml_cfi_entry *ret)
{
    struct ml_cfi_bytes data;
    uint64_t bytes;

    ret->has_data = *letters == 'z';
    if (!ret->has_data) {
        b->failed |= *letters != '\0';
        return;
    }
    bytes = ml_cfi_uleb(b);
    data = *b;
    ml_cfi_skip(b, bytes);
    data.end = b->at;
    while (*++letters && !data.failed) {
        switch (*letters) {
        case 'R': ret->pointers = ml_cfi_byte(&data); break;
        case 'P': ml_cfi_value(&data, ml_cfi_byte(&data)); break;
        case 'L': ml_cfi_byte(&data); break;
        case 'S': ret->is_signal = true; break;
        default: data.failed = true; break;
        }
    }
    b->failed |= data.failed;
}

static bool read_shared(const struct ml_cfi_sections *s, uintptr_t at, struct ml_cfi_entry *ret)
{
    struct ml_cfi_bytes b;
    const char *letters;
    uint8_t version;

    if (!entry_bytes(s, at, &b) || ml_cfi_number(&b, 4)) /* 0: the mark of a CIE */
        return false;
    version = ml_cfi_byte(&b);
    letters = (const char *)b.at;
    while (ml_cfi_byte(&b))
        continue;
    ret->code_align = ml_cfi_uleb(&b);
    ret->data_align = ml_cfi_sleb(&b);
    ret->return_register = version == 1 ? ml_cfi_byte(&b) : ml_cfi_uleb(&b);
    if (b.failed || (version != 1 && version != 3))
        return false;
    read_augmentation(letters, &b, ret);
    ret->start_program = b;
    return !b.failed;
}

static bool read_function(const struct ml_cfi_sections *s, uintptr_t at, struct ml_cfi_entry *ret)
{
    struct ml_cfi_bytes b;
    uintptr_t shared;

    *ret = (struct ml_cfi_entry){.pointers = ML_PE_ABSOLUTE};
    if (!entry_bytes(s, at, &b))
        return false;
    shared = (uintptr_t)b.at;
    shared -= ml_cfi_number(&b, 4);
    if (b.failed || !read_shared(s, shared, ret))
        return false;
    ret->begin = ml_cfi_pointer(&b, ret->pointers, s->header);
    ret->end = ret->begin + ml_cfi_value(&b, ret->pointers);
    if (ret->has_data)
        ml_cfi_skip(&b, ml_cfi_uleb(&b));
    ret->function_program = b;
    return !b.failed;
}

enum ml_cfi_found ml_cfi_find(const struct ml_cfi_sections *sections, uintptr_t address,
                              struct ml_cfi_entry *ret)
{
    struct table table;
    uintptr_t entry;

    if (!read_header(sections, &table))
        return ML_CFI_NOT_UNDERSTOOD;
    entry = search(sections, &table, address);
    if (!entry)
        return ML_CFI_NO_ENTRY;
    if (!read_function(sections, entry, ret))
        return ML_CFI_NOT_UNDERSTOOD;
    return address >= ret->begin && address < ret->end ? ML_CFI_FOUND : ML_CFI_NO_ENTRY;
}
