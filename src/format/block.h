/* block.h: the frame of a trace file: file header, block headers, trailer. Pure conversions
 * between bytes and structs; checksums are computed and checked here, the caller compresses.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_BLOCK_H
#define ML_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ML_FORMAT_MAJOR 1
#define ML_FORMAT_MINOR 7
#define ML_FORMAT_FEATURES 1u /* bit 0: blocks of events and definitions may have layout 1 */

#define ML_FILE_HEADER_BYTES 64
#define ML_BLOCK_HEADER_BYTES 48
#define ML_TRAILER_BYTES 32

#define ML_BLOCK_MAX_BYTES (32u << 20)
#define ML_BLOCK_MAX_EVENTS 65536u
#define ML_STRING_MAX_BYTES 65535u
#define ML_ID_MAX 16777216u
#define ML_SCOPE_MAX_DEPTH 4096u
#define ML_STACK_MAX_DEPTH 4096u

enum ml_block_type {
    ML_BLOCK_DEFS = 1,
    ML_BLOCK_EVENTS = 2,
    ML_BLOCK_CHECKPOINT = 3,
    ML_BLOCK_INDEX = 4,
    ML_BLOCK_CLASSES = 5,
    ML_BLOCK_PYRAMID = 6,
    ML_BLOCK_DIRECTORY = 7,
    ML_BLOCK_LANDMARKS = 8, /* this, the next and type 11 as ML_BLOCK_EVENTS */
    ML_BLOCK_SAMPLES = 9,
    ML_BLOCK_SYMBOLS = 10,
    ML_BLOCK_SEGMENTS = 11,
    ML_BLOCK_WINDOW = 12,
    ML_BLOCK_OUTLINE = 13,
    ML_BLOCK_DIGEST = 14, /* only in a file of its own */
    ML_BLOCK_REACH = 15,
};

enum ml_codec { ML_CODEC_STORED = 0, ML_CODEC_ZSTD = 1 };

/* How a block's contents are arranged. Of events, addresses are differences in layout 0 and
 * references in layout 1; definitions are records in layout 0 and columns in layout 1. Others have
 * layout 0. */
enum ml_layout {
    ML_LAYOUT_ADDRESSES = 0,
    ML_LAYOUT_REFERENCES = 1,
    ML_LAYOUT_RECORDS = 0,
    ML_LAYOUT_COLUMNS = 1,
};

struct ml_file_header {
    uint16_t major;
    uint16_t minor;
    uint32_t features;
    uint64_t start_wall_ns;
};

struct ml_block_header {
    uint8_t type;
    uint8_t codec;
    uint16_t layout; /* enum ml_layout */
    uint32_t stored_bytes;
    uint32_t raw_bytes;
    uint64_t first_ns;
    uint64_t last_ns;
    uint32_t events;
    uint32_t sequence;
};

struct ml_trailer {
    uint64_t index_offset;
    uint64_t file_bytes;
};

enum ml_frame_result {
    ML_FRAME_OK = 0,
    ML_FRAME_NOT_OURS = -1, /* wrong magic */
    ML_FRAME_DAMAGED = -2,  /* wrong checksum, or a limit is exceeded */
    ML_FRAME_TOO_NEW = -3,  /* unknown major version or feature */
};

void ml_file_header_put(uint8_t out[ML_FILE_HEADER_BYTES], const struct ml_file_header *h);
enum ml_frame_result ml_file_header_get(const uint8_t in[ML_FILE_HEADER_BYTES],
                                        struct ml_file_header *ret);

/* `stored` points to the h->stored_bytes that will follow the header. */
void ml_block_header_put(uint8_t out[ML_BLOCK_HEADER_BYTES], const struct ml_block_header *h,
                         const void *stored);

/* Checks magic and limits only; ml_block_verify checks the checksum once the stored bytes are
 * read. */
enum ml_frame_result ml_block_header_get(const uint8_t in[ML_BLOCK_HEADER_BYTES],
                                         struct ml_block_header *ret);
bool ml_block_verify(const uint8_t header[ML_BLOCK_HEADER_BYTES], const void *stored,
                     size_t stored_bytes);

void ml_trailer_put(uint8_t out[ML_TRAILER_BYTES], const struct ml_trailer *t);
enum ml_frame_result ml_trailer_get(const uint8_t in[ML_TRAILER_BYTES], struct ml_trailer *ret);

#endif
