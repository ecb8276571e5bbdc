/* memray_records.c: see memray_records.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "memray_records.h"

#include <errno.h>
#include <string.h>

#define TEXT_BYTES_MAX (1u << 20)
#define TABLE_BYTES_MAX (64u << 20)
#define PAD_AFTER_ALLOCATOR 7 /* of a struct that is written as it is in memory */
#define MISS 15               /* of the recent addresses */
#define NEW_LAYOUT 12         /* from this version on */

/* Results of a function that reads a part of a record. */
enum { CUT_OFF = 0, READ = 1 };

/* ---- Values ------------------------------------------------------------------------- */

static int take_bytes(struct ml_memray_file *f, void *ret, size_t len, struct ml_error *err)
{
    const uint8_t *bytes;
    size_t found;
    int r = ml_import_peek(f->source, len, &bytes, &found, err);

    if (r < 0)
        return r;
    if (found < len)
        return CUT_OFF;
    memcpy(ret, bytes, len);
    ml_import_take(f->source, len);
    return READ;
}

static int take_u8(struct ml_memray_file *f, uint8_t *ret, struct ml_error *err)
{
    int byte;

    err->code = 0;
    byte = ml_import_byte(f->source, err);
    if (byte < 0)
        return err->code < 0 ? err->code : CUT_OFF;
    *ret = (uint8_t)byte;
    return READ;
}

static int take_flag(struct ml_memray_file *f, bool *ret, struct ml_error *err)
{
    uint8_t byte;
    int r = take_u8(f, &byte, err);

    if (r > 0)
        *ret = byte != 0;
    return r;
}

static int take_u32(struct ml_memray_file *f, uint32_t *ret, struct ml_error *err)
{
    return take_bytes(f, ret, sizeof(*ret), err);
}

static int take_u64(struct ml_memray_file *f, uint64_t *ret, struct ml_error *err)
{
    return take_bytes(f, ret, sizeof(*ret), err);
}

static int damaged(struct ml_memray_file *f, struct ml_error *err)
{
    return ml_import_bad(f->source, err, "damaged, or not a file of memray");
}

static int take_number(struct ml_memray_file *f, uint64_t *ret, struct ml_error *err)
{
    uint64_t value = 0;
    uint8_t byte = 0x80;
    int r = READ;

    for (unsigned shift = 0; r > 0 && byte & 0x80; shift += 7) {
        if (shift > 63)
            return damaged(f, err);
        r = take_u8(f, &byte, err);
        if (r > 0)
            value |= (uint64_t)(byte & 0x7f) << shift;
    }
    *ret = value;
    return r;
}

static int take_signed(struct ml_memray_file *f, int64_t *ret, struct ml_error *err)
{
    uint64_t zigzag = 0;
    int r = take_number(f, &zigzag, err);

    *ret = (int64_t)(zigzag >> 1 ^ (~(zigzag & 1) + 1));
    return r;
}

/* A number as the difference to the last one of its sort. */
static int take_delta(struct ml_memray_file *f, uint64_t *last, struct ml_error *err)
{
    int64_t delta = 0;
    int r = take_signed(f, &delta, err);

    if (r > 0)
        *last += (uint64_t)delta;
    return r;
}

/* Appends a text and its NUL. */
static int take_text(struct ml_memray_file *f, struct ml_buf *to, struct ml_error *err)
{
    size_t from = to->len;
    uint8_t byte = 1;
    int r = READ;

    while (r > 0 && byte) {
        r = take_u8(f, &byte, err);
        if (r > 0 && to->len - from > TEXT_BYTES_MAX)
            return damaged(f, err);
        if (r > 0 && ml_buf_append(to, &byte, 1) < 0)
            return ml_error_set(err, -ENOMEM, "%s: not enough memory", f->source->name);
    }
    return r;
}

/* Two texts into the record. */
static int take_names(struct ml_memray_file *f, struct ml_memray_record *ret, struct ml_error *err)
{
    size_t second = 0;
    int r;

    ml_buf_clear(&f->text);
    r = take_text(f, &f->text, err);
    if (r > 0) {
        second = f->text.len;
        r = take_text(f, &f->text, err);
    }
    if (r > 0) {
        ret->name = (const char *)f->text.data;
        ret->file = (const char *)f->text.data + second;
    }
    return r;
}

static int take_name(struct ml_memray_file *f, struct ml_memray_record *ret, struct ml_error *err)
{
    int r;

    ml_buf_clear(&f->text);
    r = take_text(f, &f->text, err);
    if (r > 0)
        ret->name = (const char *)f->text.data;
    return r;
}

/* ---- Events ------------------------------------------------------------------------- */

/* The allocators by number, before version 12 and since. */
enum { FREES = 1, RANGES = 2, PYTHON = 4, UNKNOWN = 8 };
static const uint8_t allocators[2][16] = {
    {UNKNOWN, 0, FREES, 0, 0, 0, 0, 0, 0, 0, RANGES, RANGES | FREES, PYTHON, PYTHON, PYTHON,
     PYTHON | FREES},
    {UNKNOWN, PYTHON | FREES, PYTHON, PYTHON, PYTHON, FREES, 0, 0, 0, 0, 0, 0, 0, 0, RANGES,
     RANGES | FREES},
};

static unsigned traits_of(const struct ml_memray_file *f, unsigned allocator)
{
    return allocator < 16 ? allocators[f->version >= NEW_LAYOUT][allocator] : UNKNOWN;
}

static enum ml_memray_kind event_kind(unsigned traits)
{
    if (traits & RANGES)
        return traits & FREES ? ML_MEMRAY_UNMAP : ML_MEMRAY_MAP;
    return traits & FREES ? ML_MEMRAY_FREE : ML_MEMRAY_ALLOCATION;
}

/* An address that is among the recent ones is not written again. */
static int take_pointer(struct ml_memray_file *f, unsigned recent, uint64_t *ret,
                        struct ml_error *err)
{
    int r;

    if (recent != MISS) {
        *ret = f->recent[recent];
        return READ;
    }
    r = take_delta(f, &f->pointer, err);
    memmove(f->recent + 1, f->recent, sizeof(f->recent) - sizeof(f->recent[0]));
    *ret = f->recent[0] = f->pointer << 3;
    return r;
}

static int read_event(struct ml_memray_file *f, unsigned flags, struct ml_memray_record *ret,
                      struct ml_error *err)
{
    uint8_t allocator = flags & 7;
    unsigned traits;
    int r = take_pointer(f, flags >> 3 & MISS, &ret->address, err);

    if (r > 0 && !allocator)
        r = take_u8(f, &allocator, err);
    if (r <= 0)
        return r;
    traits = traits_of(f, allocator);
    if (traits & UNKNOWN)
        return damaged(f, err);
    ret->kind = event_kind(traits);
    ret->from_python = traits & PYTHON;
    if (ret->kind == ML_MEMRAY_FREE)
        return READ;
    if (f->native) {
        r = take_delta(f, &f->native_id, err);
        ret->native = f->native_id;
    }
    return r > 0 ? take_number(f, &ret->bytes, err) : r;
}

/* Before version 12: another kind of record if it has a native stack. */
static int read_old_event(struct ml_memray_file *f, unsigned allocator, bool native,
                          struct ml_memray_record *ret, struct ml_error *err)
{
    unsigned traits = traits_of(f, allocator);
    int r = take_delta(f, &f->pointer, err);

    if (traits & UNKNOWN)
        return damaged(f, err);
    ret->kind = event_kind(traits);
    ret->from_python = traits & PYTHON;
    ret->address = f->pointer;
    if (r > 0 && (native || ret->kind != ML_MEMRAY_FREE))
        r = take_number(f, &ret->bytes, err);
    if (r > 0 && native) {
        r = take_delta(f, &f->native_id, err);
        ret->native = f->native_id;
    }
    return r;
}

/* A Python object begins or ends, which is no allocation. @return as ml_memray_next, with the
 * record after it */
static int skip_object(struct ml_memray_file *f, unsigned flags, struct ml_error *err)
{
    uint64_t address;
    int r = take_pointer(f, flags >> 1 & MISS, &address, err);

    if (r > 0 && f->native && flags & 1)
        r = take_delta(f, &f->native_id, err);
    return r;
}

/* ---- Frames and stacks -------------------------------------------------------------- */

static int read_code(struct ml_memray_file *f, struct ml_memray_record *ret, struct ml_error *err)
{
    uint64_t len = 0;
    int r = take_number(f, &ret->number, err);

    ret->kind = ML_MEMRAY_CODE;
    if (r > 0)
        r = take_names(f, ret, err);
    if (r > 0)
        r = take_delta(f, &f->line, err);
    if (r > 0)
        r = take_number(f, &len, err);
    ret->line = (int32_t)f->line;
    if (r <= 0)
        return r;
    if (len > TABLE_BYTES_MAX)
        return damaged(f, err);
    ml_buf_clear(&f->table);
    if (ml_buf_reserve(&f->table, len) < 0)
        return ml_error_set(err, -ENOMEM, "%s: not enough memory", f->source->name);
    ret->table = f->table.data;
    ret->table_len = len;
    return len ? take_bytes(f, f->table.data, len, err) : READ;
}

/* Version 9 to 11: frames have numbers and lines. */
static int read_old_frame(struct ml_memray_file *f, unsigned flags, struct ml_memray_record *ret,
                          struct ml_error *err)
{
    int r = take_delta(f, &f->frame, err);

    *ret = (struct ml_memray_record){.kind = ML_MEMRAY_FRAME, .offset = -1};
    ret->number = f->frame;
    ret->is_entry = !(flags & 1);
    if (r > 0)
        r = take_names(f, ret, err);
    if (r > 0)
        r = take_delta(f, &f->line, err);
    ret->line = (int32_t)f->line;
    return r;
}

static int read_push(struct ml_memray_file *f, unsigned flags, struct ml_memray_record *ret,
                     struct ml_error *err)
{
    int64_t offset = 0;
    int r;

    ret->kind = ML_MEMRAY_PUSH;
    if (f->version < NEW_LAYOUT) {
        r = take_delta(f, &f->frame, err);
        ret->number = f->frame;
        return r;
    }
    ret->is_entry = flags & 1;
    r = take_number(f, &ret->number, err);
    if (r > 0)
        r = take_signed(f, &offset, err);
    ret->offset = (int32_t)offset;
    return r;
}

static int read_native(struct ml_memray_file *f, struct ml_memray_record *ret, struct ml_error *err)
{
    int r = take_delta(f, &f->instruction, err);

    ret->kind = ML_MEMRAY_NATIVE;
    ret->address = f->instruction;
    if (r > 0)
        r = take_delta(f, &f->native_id, err);
    ret->parent = f->native_id;
    return r;
}

/* ---- Libraries, threads, samples ---------------------------------------------------- */

static int read_library(struct ml_memray_file *f, struct ml_memray_record *ret,
                        struct ml_error *err)
{
    uint64_t segments;
    int r = take_name(f, ret, err);

    ret->kind = ML_MEMRAY_LIBRARY;
    if (r > 0)
        r = take_number(f, &segments, err);
    return r > 0 ? take_u64(f, &ret->address, err) : r;
}

static int read_segment(struct ml_memray_file *f, struct ml_memray_record *ret,
                        struct ml_error *err)
{
    int r = take_u64(f, &ret->address, err);

    ret->kind = ML_MEMRAY_SEGMENT;
    return r > 0 ? take_number(f, &ret->bytes, err) : r;
}

static int read_thread(struct ml_memray_file *f, struct ml_memray_record *ret, struct ml_error *err)
{
    int r = take_u64(f, &f->thread, err);

    ret->kind = ML_MEMRAY_THREAD;
    ret->number = f->thread;
    return r;
}

static int read_thread_name(struct ml_memray_file *f, struct ml_memray_record *ret,
                            struct ml_error *err)
{
    ret->kind = ML_MEMRAY_THREAD_NAME;
    ret->number = f->thread;
    return take_name(f, ret, err);
}

static int read_memory(struct ml_memray_file *f, struct ml_memray_record *ret, struct ml_error *err)
{
    int r = take_number(f, &ret->bytes, err);

    ret->kind = ML_MEMRAY_MEMORY;
    ret->heap = -1;
    return r > 0 ? take_number(f, &ret->time_ms, err) : r;
}

/* Of both sorts of files. @return as ml_memray_next, -ENOENT: not one of these */
static int read_common(struct ml_memray_file *f, unsigned kind, struct ml_memray_record *ret,
                       struct ml_error *err)
{
    switch (kind) {
    case 5: return read_native(f, ret, err);
    case 6: ret->kind = ML_MEMRAY_MAPS_BEGIN; return READ;
    case 7: return read_library(f, ret, err);
    case 8: return read_segment(f, ret, err);
    case 10: return read_thread_name(f, ret, err);
    case 12: return read_thread(f, ret, err);
    default: return -ENOENT;
    }
}

/* ---- Aggregated files --------------------------------------------------------------- */

static int read_snapshot(struct ml_memray_file *f, struct ml_memray_record *ret,
                         struct ml_error *err)
{
    uint64_t values[3]; /* time, resident size, heap */
    int r = take_bytes(f, values, sizeof(values), err);

    if (r <= 0)
        return r;
    ret->kind = ML_MEMRAY_MEMORY;
    ret->time_ms = values[0] > f->start_ms ? values[0] - f->start_ms : 0;
    ret->bytes = values[1];
    ret->heap = values[2] < INT64_MAX ? (int64_t)values[2] : INT64_MAX;
    return READ;
}

static int read_sum(struct ml_memray_file *f, struct ml_memray_record *ret, struct ml_error *err)
{
    uint8_t allocator[1 + PAD_AFTER_ALLOCATOR];
    uint64_t values[7];
    unsigned traits;
    int r = take_u64(f, &ret->number, err);

    if (r > 0)
        r = take_bytes(f, allocator, sizeof(allocator), err);
    if (r > 0)
        r = take_bytes(f, values, sizeof(values), err);
    if (r <= 0)
        return r;
    traits = traits_of(f, allocator[0]);
    if (traits & (UNKNOWN | FREES))
        return damaged(f, err);
    ret->kind = ML_MEMRAY_SUM;
    ret->from_python = traits & PYTHON;
    ret->native = values[0];
    ret->stack = values[1];
    ret->maps = values[2];
    ret->sum = (struct ml_memray_sum){values[3], values[4], values[5], values[6]};
    return READ;
}

static int read_node(struct ml_memray_file *f, struct ml_memray_record *ret, struct ml_error *err)
{
    uint32_t parent = 0;
    int r;

    ret->kind = ML_MEMRAY_NODE;
    if (f->version >= NEW_LAYOUT) {
        r = take_number(f, &ret->number, err);
        return r > 0 ? take_number(f, &ret->parent, err) : r;
    }
    r = take_u64(f, &ret->number, err);
    if (r > 0)
        r = take_u32(f, &parent, err);
    ret->parent = parent;
    return r;
}

static int read_frame(struct ml_memray_file *f, struct ml_memray_record *ret, struct ml_error *err)
{
    int64_t offset = -1;
    uint32_t line = 0;
    int r;

    ret->kind = ML_MEMRAY_FRAME;
    if (f->version >= NEW_LAYOUT) {
        r = take_number(f, &ret->number, err);
        if (r > 0)
            r = take_number(f, &ret->parent, err); /* the code object */
        if (r > 0)
            r = take_signed(f, &offset, err);
        ret->offset = (int32_t)offset;
    } else {
        r = take_u64(f, &ret->number, err);
        if (r > 0)
            r = take_names(f, ret, err);
        if (r > 0)
            r = take_u32(f, &line, err);
        ret->offset = -1;
        ret->line = (int32_t)line;
    }
    return r > 0 ? take_flag(f, &ret->is_entry, err) : r;
}

/* An object that was never freed: no allocation. */
static int skip_survivor(struct ml_memray_file *f, struct ml_error *err)
{
    uint64_t value;
    int r = take_number(f, &value, err);

    return r > 0 && f->native ? take_number(f, &value, err) : r;
}

/* ---- Records ------------------------------------------------------------------------ */

#define END_KIND 1
#define SKIPPED 2 /* READ, but nothing to report */

static int read_aggregated(struct ml_memray_file *f, struct ml_memray_record *ret,
                           struct ml_error *err)
{
    uint8_t kind;
    int r = take_u8(f, &kind, err);

    if (r <= 0)
        return r;
    switch (kind) {
    case 0:
    case 15: return CUT_OFF;
    case 1: return read_snapshot(f, ret, err);
    case 2: return read_sum(f, ret, err);
    case 3: return read_node(f, ret, err);
    case 4: return read_frame(f, ret, err);
    case 13: r = skip_survivor(f, err); return r > 0 ? SKIPPED : r;
    case 14: return read_code(f, ret, err);
    default: return read_common(f, kind, ret, err);
    }
}

static int read_new(struct ml_memray_file *f, struct ml_memray_record *ret, struct ml_error *err)
{
    uint8_t head;
    int r = take_u8(f, &head, err);

    if (r <= 0 || head == 0 || head == END_KIND)
        return r < 0 ? r : CUT_OFF;
    if (head & 128)
        return read_event(f, head & 127, ret, err);
    if (head & 64)
        return read_push(f, head & 63, ret, err);
    if (head & 32) {
        r = skip_object(f, head & 31, err);
        return r > 0 ? SKIPPED : r;
    }
    if (head & 16) {
        ret->kind = ML_MEMRAY_POP;
        ret->number = (head & 15u) + 1;
        return READ;
    }
    if (head == 2)
        return read_memory(f, ret, err);
    return head == 14 ? read_code(f, ret, err) : read_common(f, head, ret, err);
}

static int read_old(struct ml_memray_file *f, struct ml_memray_record *ret, struct ml_error *err)
{
    uint8_t head;
    unsigned flags;
    int r = take_u8(f, &head, err);

    if (r <= 0)
        return r;
    flags = head >> 4;
    switch (head & 15) {
    case 0: return CUT_OFF;
    case 1:
    case 2: return read_old_event(f, flags, (head & 15) == 2, ret, err);
    case 3: return read_old_frame(f, flags, ret, err);
    case 4: return read_push(f, flags, ret, err);
    case 9:
        ret->kind = ML_MEMRAY_POP;
        ret->number = flags + 1;
        return READ;
    case 11: return read_memory(f, ret, err);
    default: return read_common(f, head & 15, ret, err);
    }
}

int ml_memray_next(struct ml_memray_file *f, struct ml_memray_record *ret, struct ml_error *err)
{
    int r = SKIPPED;

    while (r == SKIPPED) {
        *ret = (struct ml_memray_record){0};
        r = f->aggregated              ? read_aggregated(f, ret, err)
            : f->version >= NEW_LAYOUT ? read_new(f, ret, err)
                                       : read_old(f, ret, err);
    }
    return r == -ENOENT ? damaged(f, err) : r;
}

/* ---- The header --------------------------------------------------------------------- */

static int check_version(struct ml_memray_file *f, struct ml_error *err)
{
    if (f->version > ML_MEMRAY_NEWEST)
        return ml_import_bad(f->source, err,
                             "version %u of memray's file, newer than %d, which this memledger "
                             "reads",
                             f->version, ML_MEMRAY_NEWEST);
    if (f->version < ML_MEMRAY_OLDEST)
        return ml_import_bad(f->source, err,
                             "version %u of memray's file; memledger reads those of memray 1.4 and "
                             "later: record the program again",
                             f->version);
    return READ;
}

/* Search paths of modules; each list ends with an empty one. */
static int skip_paths(struct ml_memray_file *f, struct ml_error *err)
{
    int lists = 0, r;

    ml_buf_clear(&f->text);
    r = take_text(f, &f->text, err);
    while (r > 0 && lists < 2) {
        ml_buf_clear(&f->text);
        r = take_text(f, &f->text, err);
        lists += f->text.len == 1;
    }
    return r;
}

static int read_header(struct ml_memray_file *f, struct ml_error *err)
{
    char magic[sizeof(ML_MEMRAY_MAGIC)];
    uint64_t stats[4]; /* allocations, frames, start, end */
    uint8_t allocator;
    bool flag;
    int r = take_bytes(f, magic, sizeof(magic), err);

    if (r > 0 && memcmp(magic, ML_MEMRAY_MAGIC, sizeof(magic)) != 0)
        return damaged(f, err);
    if (r > 0)
        r = take_u32(f, &f->version, err);
    if (r > 0)
        r = check_version(f, err);
    if (r > 0 && f->version >= NEW_LAYOUT)
        r = take_u32(f, &f->python, err);
    if (r > 0)
        r = take_flag(f, &f->native, err);
    if (r > 0 && f->version >= 10)
        r = take_flag(f, &f->aggregated, err);
    if (r > 0)
        r = take_bytes(f, stats, sizeof(stats), err);
    if (r > 0)
        r = take_text(f, &f->command, err);
    if (r > 0)
        r = take_u32(f, &f->pid, err);
    if (r > 0)
        r = take_u64(f, &f->main_thread, err);
    if (r > 0)
        r = take_u64(f, &f->skipped_frames, err);
    if (r > 0)
        r = take_u8(f, &allocator, err);
    if (r > 0 && f->version >= 11)
        r = take_flag(f, &flag, err);
    if (r > 0 && f->version >= NEW_LAYOUT)
        r = take_flag(f, &flag, err);
    if (r > 0 && f->version >= 13)
        r = skip_paths(f, err);
    if (r > 0) {
        f->start_ms = stats[2];
        f->end_ms = stats[3];
    }
    return r;
}

int ml_memray_open(struct ml_memray_file *f, struct ml_import_source *source, struct ml_error *err)
{
    int r;

    *f = (struct ml_memray_file){.source = source};
    r = read_header(f, err);
    if (r == CUT_OFF)
        return ml_import_bad(source, err, "the header of memray's file is cut off");
    return r < 0 ? r : 0;
}

void ml_memray_release(struct ml_memray_file *f)
{
    ml_buf_release(&f->command);
    ml_buf_release(&f->text);
    ml_buf_release(&f->table);
}
