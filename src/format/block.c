/* block.c: bytes of file headers, block headers and trailers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "block.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "varint.h"

#define BLOCK_MAGIC 0x4b424c4du /* "MLBK" */
#define SUM_AT_FILE 56
#define SUM_AT_BLOCK 40
#define SUM_AT_TRAILER 16

static const uint8_t file_magic[8] = {0x89, 'M', 'L', 'E', 'D', '\r', '\n', 0x1a};
static const uint8_t end_magic[8] = {'m', 'l', 'e', 'd', 'e', 'n', 'd', '\n'};

void ml_file_header_put(uint8_t out[ML_FILE_HEADER_BYTES], const struct ml_file_header *h)
{
    memset(out, 0, ML_FILE_HEADER_BYTES);
    memcpy(out, file_magic, sizeof(file_magic));
    ml_store_u16(out + 8, h->major);
    ml_store_u16(out + 10, h->minor);
    ml_store_u32(out + 12, h->features);
    ml_store_u64(out + 16, h->start_wall_ns);
    ml_store_u64(out + SUM_AT_FILE, XXH3_64bits(out, SUM_AT_FILE));
}

enum ml_frame_result ml_file_header_get(const uint8_t in[ML_FILE_HEADER_BYTES],
                                        struct ml_file_header *ret)
{
    if (memcmp(in, file_magic, sizeof(file_magic)))
        return ML_FRAME_NOT_OURS;
    if (ml_load_u64(in + SUM_AT_FILE) != XXH3_64bits(in, SUM_AT_FILE))
        return ML_FRAME_DAMAGED;
    *ret = (struct ml_file_header){
        .major = ml_load_u16(in + 8),
        .minor = ml_load_u16(in + 10),
        .features = ml_load_u32(in + 12),
        .start_wall_ns = ml_load_u64(in + 16),
    };
    return ret->major == ML_FORMAT_MAJOR && !(ret->features & ~ML_FORMAT_FEATURES)
               ? ML_FRAME_OK
               : ML_FRAME_TOO_NEW;
}

static uint64_t block_sum(const uint8_t *header, const void *stored, size_t stored_bytes)
{
    uint64_t head = XXH3_64bits(header, SUM_AT_BLOCK);
    return XXH3_64bits_withSeed(stored, stored_bytes, head);
}

void ml_block_header_put(uint8_t out[ML_BLOCK_HEADER_BYTES], const struct ml_block_header *h,
                         const void *stored)
{
    ml_store_u32(out, BLOCK_MAGIC);
    out[4] = h->type;
    out[5] = h->codec;
    ml_store_u16(out + 6, h->layout);
    ml_store_u32(out + 8, h->stored_bytes);
    ml_store_u32(out + 12, h->raw_bytes);
    ml_store_u64(out + 16, h->first_ns);
    ml_store_u64(out + 24, h->last_ns);
    ml_store_u32(out + 32, h->events);
    ml_store_u32(out + 36, h->sequence);
    ml_store_u64(out + SUM_AT_BLOCK, block_sum(out, stored, h->stored_bytes));
}

enum ml_frame_result ml_block_header_get(const uint8_t in[ML_BLOCK_HEADER_BYTES],
                                         struct ml_block_header *ret)
{
    if (ml_load_u32(in) != BLOCK_MAGIC)
        return ML_FRAME_NOT_OURS;
    *ret = (struct ml_block_header){
        .type = in[4],
        .codec = in[5],
        .layout = ml_load_u16(in + 6),
        .stored_bytes = ml_load_u32(in + 8),
        .raw_bytes = ml_load_u32(in + 12),
        .first_ns = ml_load_u64(in + 16),
        .last_ns = ml_load_u64(in + 24),
        .events = ml_load_u32(in + 32),
        .sequence = ml_load_u32(in + 36),
    };
    if (ret->stored_bytes > ML_BLOCK_MAX_BYTES || ret->raw_bytes > ML_BLOCK_MAX_BYTES ||
        ret->first_ns > ret->last_ns || ret->last_ns > INT64_MAX || ret->codec > ML_CODEC_ZSTD)
        return ML_FRAME_DAMAGED;
    if (ret->type == ML_BLOCK_EVENTS && ret->events > ML_BLOCK_MAX_EVENTS)
        return ML_FRAME_DAMAGED;
    return ML_FRAME_OK;
}

bool ml_block_verify(const uint8_t header[ML_BLOCK_HEADER_BYTES], const void *stored,
                     size_t stored_bytes)
{
    return ml_load_u64(header + SUM_AT_BLOCK) == block_sum(header, stored, stored_bytes);
}

void ml_trailer_put(uint8_t out[ML_TRAILER_BYTES], const struct ml_trailer *t)
{
    ml_store_u64(out, t->index_offset);
    ml_store_u64(out + 8, t->file_bytes);
    ml_store_u64(out + SUM_AT_TRAILER, XXH3_64bits(out, SUM_AT_TRAILER));
    memcpy(out + 24, end_magic, sizeof(end_magic));
}

enum ml_frame_result ml_trailer_get(const uint8_t in[ML_TRAILER_BYTES], struct ml_trailer *ret)
{
    if (memcmp(in + 24, end_magic, sizeof(end_magic)))
        return ML_FRAME_NOT_OURS;
    if (ml_load_u64(in + SUM_AT_TRAILER) != XXH3_64bits(in, SUM_AT_TRAILER))
        return ML_FRAME_DAMAGED;
    ret->index_offset = ml_load_u64(in);
    ret->file_bytes = ml_load_u64(in + 8);
    return ML_FRAME_OK;
}
