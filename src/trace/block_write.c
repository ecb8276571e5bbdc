/* block_write.c: see block_write.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "block_write.h"

#include <errno.h>
#include <string.h>

#include <zstd.h>

#include "block.h"
#include "def_columns.h"
#include "defs.h"
#include "io.h"
#include "trace_defs.h"

#define QUICK_LEVEL 3
#define PART_BYTES (8u << 20) /* of a section, in one block */

void ml_block_writer_open(struct ml_block_writer *w, int fd, uint64_t start_wall_ns)
{
    *w = (struct ml_block_writer){.fd = fd, .start_wall_ns = start_wall_ns};
}

int ml_block_writer_continue(struct ml_block_writer *w, int fd, const struct ml_index_entry *blocks,
                             size_t count, const struct ml_index_totals *totals)
{
    *w = (struct ml_block_writer){.fd = fd, .offset = ML_FILE_HEADER_BYTES, .totals = *totals};
    if (ml_vec_reserve(&w->index, count))
        return -ENOMEM;
    for (size_t i = 0; i < count; i++) {
        w->index.items[w->index.len++] = blocks[i];
        w->offset = blocks[i].offset + ML_BLOCK_HEADER_BYTES + blocks[i].stored_bytes;
    }
    return 0;
}

void ml_block_writer_release(struct ml_block_writer *w)
{
    ZSTD_freeCCtx(w->zstd);
    ml_buf_release(&w->packed);
    ml_buf_release(&w->columns);
    ml_vec_release(&w->index);
    *w = (struct ml_block_writer){.fd = -1};
}

size_t ml_block_writer_next(const struct ml_block_writer *w)
{
    return w->index.len;
}

static int append(struct ml_block_writer *w, const void *bytes, size_t len)
{
    int r = ml_write_all(w->fd, bytes, len);

    if (r == 0)
        w->offset += len;
    return r;
}

static int append_file_header(struct ml_block_writer *w)
{
    struct ml_file_header h = {ML_FORMAT_MAJOR, ML_FORMAT_MINOR, ML_FORMAT_FEATURES,
                               w->start_wall_ns};
    uint8_t bytes[ML_FILE_HEADER_BYTES];

    ml_file_header_put(bytes, &h);
    return append(w, bytes, sizeof(bytes));
}

/* @return 0 or negative errno */
static int pack(struct ml_block_writer *w, const uint8_t *bytes, size_t len, size_t *ret)
{
    if (!w->zstd)
        w->zstd = ZSTD_createCCtx();
    ml_buf_clear(&w->packed);
    if (!w->zstd || ml_buf_reserve(&w->packed, ZSTD_compressBound(len)))
        return -ENOMEM;
    *ret = ZSTD_compressCCtx(w->zstd, w->packed.data, w->packed.cap, bytes, len,
                             w->level ? w->level : QUICK_LEVEL);
    return ZSTD_isError(*ret) ? -EIO : 0;
}

int ml_block_writer_copy(struct ml_block_writer *w, const struct ml_block_header *header,
                         const uint8_t *stored)
{
    struct ml_block_header h = *header;
    struct ml_index_entry entry = {.type = h.type,
                                   .offset = w->offset,
                                   .stored_bytes = h.stored_bytes,
                                   .first_ns = h.first_ns,
                                   .last_ns = h.last_ns,
                                   .events = h.events};
    uint8_t bytes[ML_BLOCK_HEADER_BYTES];
    int r;

    h.sequence = (uint32_t)w->index.len;
    ml_block_header_put(bytes, &h, stored);
    r = append(w, bytes, sizeof(bytes));
    if (r == 0)
        r = append(w, stored, h.stored_bytes);
    return r < 0 ? r : ml_vec_push(&w->index, entry);
}

/* Adds a block with these contents; the header says the rest. */
static int append_block(struct ml_block_writer *w, struct ml_block_header header,
                        const uint8_t *bytes, size_t len)
{
    size_t stored = 0;
    int r = w->offset == 0 ? append_file_header(w) : 0;

    if (r == 0)
        r = pack(w, bytes, len, &stored);
    header.codec = ML_CODEC_ZSTD;
    header.raw_bytes = (uint32_t)len;
    header.stored_bytes = (uint32_t)stored;
    return r < 0 ? r : ml_block_writer_copy(w, &header, w->packed.data);
}

static uint8_t *put_string(struct ml_block_writer *w, uint8_t *out, const char *text)
{
    struct ml_def def = {
        .tag = ML_DEF_STRING, .id = ++w->strings, .bytes = text, .len = (uint32_t)strlen(text)};

    return ml_def_put(out, &def);
}

int ml_block_writer_setting(struct ml_block_writer *w, const char *key, const char *value)
{
    struct ml_def config = {.tag = ML_DEF_CONFIG, .id = w->strings + 1};
    struct ml_buf bytes = {0};
    uint8_t *out;
    int r;

    config.fields[ML_CONFIG_VALUE] = w->strings + 2;
    r = ml_buf_reserve(&bytes, strlen(key) + strlen(value) + 3 * ml_def_room(&config));
    if (r == 0) {
        out = put_string(w, bytes.data, key);
        out = put_string(w, out, value);
        out = ml_def_put(out, &config);
        r = append_block(w, (struct ml_block_header){.type = ML_BLOCK_DEFS, .events = 3},
                         bytes.data, (size_t)(out - bytes.data));
    }
    ml_buf_release(&bytes);
    return r;
}

/* Readers refuse a file whose definitions unpack to more than its size permits: a file of few
 * events must not have too many that are nearly empty. */
static bool unpacks_to_too_much(const struct ml_block_writer *w, size_t raw, size_t stored)
{
    return w->definition_bytes + raw > ML_TRACE_RAW_LEAST / 2 + (w->definition_stored + stored) *
                                                                    ML_TRACE_RAW_PER_FILE_BYTE / 2;
}

int ml_block_writer_definitions(struct ml_block_writer *w, uint32_t count, const uint8_t *records,
                                size_t len)
{
    struct ml_block_header h = {.type = ML_BLOCK_DEFS,
                                .events = count,
                                .layout = ML_LAYOUT_COLUMNS,
                                .codec = ML_CODEC_ZSTD};
    size_t raw, stored = 0;
    int r = w->offset == 0 ? append_file_header(w) : 0;

    ml_buf_clear(&w->columns);
    if (r == 0)
        r = ml_buf_reserve(&w->columns, ml_def_columns_room(len));
    if (r < 0)
        return r;
    raw = ml_def_columns_put(w->columns.data, records, len);
    r = raw ? pack(w, w->columns.data, raw, &stored) : -EBADMSG;
    if (r < 0)
        return r;
    if (unpacks_to_too_much(w, raw, stored)) {
        h.codec = ML_CODEC_STORED;
        stored = raw;
    }
    w->definition_bytes += raw;
    w->definition_stored += stored;
    h.raw_bytes = (uint32_t)raw;
    h.stored_bytes = (uint32_t)stored;
    return ml_block_writer_copy(w, &h,
                                h.codec == ML_CODEC_STORED ? w->columns.data : w->packed.data);
}

int ml_block_writer_section(struct ml_block_writer *w, uint8_t type, uint64_t time_ns,
                            const uint8_t *bytes, size_t len)
{
    uint32_t following = len > 0 ? (uint32_t)((len - 1) / PART_BYTES) : 0;
    struct ml_block_header header = {.type = type, .first_ns = time_ns, .last_ns = time_ns};
    int r;

    do {
        size_t part = len < PART_BYTES ? len : PART_BYTES;

        header.events = following;
        r = append_block(w, header, bytes, part);
        bytes += part;
        len -= part;
    } while (r == 0 && following-- > 0);
    return r;
}

int ml_block_writer_events(struct ml_block_writer *w, uint8_t type,
                           const struct ml_block_header *header, const uint8_t *bytes, size_t len)
{
    struct ml_block_header h = *header;

    h.type = type;
    return append_block(w, h, bytes, len);
}

static int append_index(struct ml_block_writer *w)
{
    size_t count = w->index.len;
    struct ml_buf bytes = {0};
    uint64_t previous = 0;
    uint8_t *out;
    int r = ml_buf_reserve(&bytes,
                           ML_INDEX_COUNT_MAX + count * ML_INDEX_ENTRY_MAX + ML_INDEX_TOTALS_MAX);

    if (r == 0) {
        out = ml_varint_put(bytes.data, count);
        for (size_t i = 0; i < count; i++) {
            out = ml_index_entry_put(out, &w->index.items[i], previous);
            previous = w->index.items[i].offset;
        }
        out = ml_index_totals_put(out, &w->totals);
        r = append_block(w, (struct ml_block_header){.type = ML_BLOCK_INDEX}, bytes.data,
                         (size_t)(out - bytes.data));
    }
    ml_buf_release(&bytes);
    return r;
}

int ml_block_writer_finish(struct ml_block_writer *w)
{
    struct ml_trailer trailer;
    uint8_t bytes[ML_TRAILER_BYTES];
    int r = w->offset == 0 ? append_file_header(w) : 0;

    trailer.index_offset = w->offset;
    if (r == 0)
        r = append_index(w);
    if (r < 0)
        return r;
    trailer.file_bytes = w->offset + sizeof(bytes);
    ml_trailer_put(bytes, &trailer);
    return append(w, bytes, sizeof(bytes));
}
