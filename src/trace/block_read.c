/* block_read.c: load, check and decompress one block.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "block_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "def_columns.h"
#include "io.h"

void ml_block_reader_init(struct ml_block_reader *r, int fd, uint64_t file_bytes)
{
    *r = (struct ml_block_reader){.fd = fd, .file_bytes = file_bytes};
}

void ml_block_reader_release(struct ml_block_reader *r)
{
    ZSTD_freeDCtx(r->zstd);
    free(r->stored.data);
    free(r->unpacked.data);
    free(r->records.data);
    free(r->model);
    *r = (struct ml_block_reader){.fd = -1};
}

/* Does not copy the old contents, which are not needed. Allocates for 0 bytes too, because
 * callers do arithmetic on the pointer. */
static int make_room(struct ml_block_room *room, size_t bytes)
{
    if (room->data && bytes <= room->cap)
        return 0;
    free(room->data);
    room->data = malloc(bytes ? bytes : 1);
    room->cap = room->data ? bytes : 0;
    return room->data ? 0 : -ENOMEM;
}

static int damaged(struct ml_block_reader *r, const char *reason)
{
    r->reason = reason;
    return -EBADMSG;
}

/* A read past the end means that the file shrank since it was opened. */
static int read_at(struct ml_block_reader *r, void *bytes, size_t len, uint64_t offset)
{
    const struct ml_block_copy *copy = r->copy;
    int code;

    if (copy && copy->data && offset >= copy->offset && len <= copy->len &&
        offset - copy->offset <= copy->len - len) {
        memcpy(bytes, copy->data + (offset - copy->offset), len);
        return 0;
    }
    code = ml_pread_all(r->fd, bytes, len, offset);
    return code == -ENODATA ? damaged(r, "cut short") : code;
}

/* The most bytes that a block of this type and count can unpack to. Keeps a small block with a
 * large claim from using much memory. */
static uint64_t most_raw_bytes(const struct ml_block_header *h)
{
    const uint64_t event_bytes = ML_EVENT_COLUMN_BYTES + ML_EVENT_ARGS * ML_VARINT_MAX;

    if (h->type != ML_BLOCK_EVENTS)
        return ML_BLOCK_MAX_BYTES;
    return ml_min_u64(ML_COLUMN_HEADER_BYTES + h->events * event_bytes, ML_EVENTS_RAW_MAX);
}

static int load_header(struct ml_block_reader *r, uint64_t offset)
{
    int code;

    r->header_ok = r->whole = false;
    if (offset > r->file_bytes || r->file_bytes - offset < ML_BLOCK_HEADER_BYTES)
        return damaged(r, "cut short");
    code = read_at(r, r->head, sizeof(r->head), offset);
    if (code)
        return code;
    switch (ml_block_header_get(r->head, &r->header)) {
    case ML_FRAME_OK: break;
    case ML_FRAME_NOT_OURS: return damaged(r, "no block header");
    default: return damaged(r, "header");
    }
    if (r->header.raw_bytes > most_raw_bytes(&r->header) || r->header.layout > ML_LAYOUT_REFERENCES)
        return damaged(r, "header");
    r->header_ok = true;
    r->whole = ml_block_end(offset, r->header.stored_bytes) <= r->file_bytes;
    return r->whole ? 0 : damaged(r, "cut short");
}

int ml_block_load(struct ml_block_reader *r, uint64_t offset)
{
    int code = load_header(r, offset);

    if (!code)
        code = make_room(&r->stored, r->header.stored_bytes);
    if (!code)
        code = read_at(r, r->stored.data, r->header.stored_bytes, offset + ML_BLOCK_HEADER_BYTES);
    if (code)
        return code;
    if (!ml_block_verify(r->head, r->stored.data, r->header.stored_bytes))
        return damaged(r, "checksum");
    return 0;
}

int ml_block_unpack(struct ml_block_reader *r, const uint8_t **ret)
{
    const struct ml_block_header *h = &r->header;
    size_t got;

    if (h->codec == ML_CODEC_STORED) {
        if (h->stored_bytes != h->raw_bytes)
            return damaged(r, "header");
        *ret = r->stored.data;
        return 0;
    }
    if (!r->zstd)
        r->zstd = ZSTD_createDCtx();
    if (!r->zstd || make_room(&r->unpacked, h->raw_bytes))
        return -ENOMEM;
    got = ZSTD_decompressDCtx(r->zstd, r->unpacked.data, h->raw_bytes, r->stored.data,
                              h->stored_bytes);
    if (ZSTD_isError(got) || got != h->raw_bytes)
        return damaged(r, "compression");
    *ret = r->unpacked.data;
    return 0;
}

int ml_block_unpack_records(struct ml_block_reader *r, const uint8_t **ret, size_t *ret_len)
{
    size_t len = r->header.raw_bytes, room;
    int code = ml_block_unpack(r, ret);

    *ret_len = len;
    if (code || r->header.layout == ML_LAYOUT_RECORDS)
        return code;
    room = ml_def_columns_records_room(*ret, len);
    if (!room)
        return damaged(r, "columns");
    if (make_room(&r->records, room))
        return -ENOMEM;
    *ret_len = ml_def_columns_get(*ret, len, r->records.data);
    *ret = r->records.data;
    return *ret_len ? 0 : damaged(r, "columns");
}

struct ml_index_entry ml_block_entry(const struct ml_block_header *h, uint64_t offset)
{
    return (struct ml_index_entry){
        .offset = offset,
        .first_ns = h->first_ns,
        .last_ns = h->last_ns,
        .stored_bytes = h->stored_bytes,
        .events = h->events,
        .type = h->type,
    };
}

static bool is_as_said(const struct ml_block_header *h, const struct ml_index_entry *e)
{
    return h->type == e->type && h->stored_bytes == e->stored_bytes && h->events == e->events &&
           h->first_ns == e->first_ns && h->last_ns == e->last_ns;
}

int ml_block_load_entry(struct ml_block_reader *r, const struct ml_index_entry *entry)
{
    int code = ml_block_load(r, entry->offset);

    if (code)
        return code;
    return is_as_said(&r->header, entry) ? 0 : damaged(r, "does not match the index");
}

int ml_block_open_events(struct ml_block_reader *r, const struct ml_index_entry *entry,
                         struct ml_decoder *ret)
{
    const uint8_t *raw;
    int code = ml_block_load_entry(r, entry);

    if (!code)
        code = ml_block_unpack(r, &raw);
    if (code)
        return code;
    if (!r->model)
        r->model = malloc(sizeof(*r->model));
    if (!r->model)
        return -ENOMEM;
    return ml_decoder_init(ret, &r->header, raw, r->model) ? damaged(r, "columns") : 0;
}
