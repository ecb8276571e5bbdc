/* block_read.h: read one block at a time from a trace file.
 *
 * Reads with pread into its own memory, so that a file that shrinks meanwhile causes an error
 * and not a signal. Checks the sizes in a header against the file and against the block's
 * limits before it allocates anything.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TRACE_BLOCK_READ_H
#define ML_TRACE_BLOCK_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "block.h"
#include "decode.h"
#include "index.h"

struct ml_block_room {
    uint8_t *data;
    size_t cap;
};

/* A copy of the bytes of a file from an offset on, as they were at some moment. */
struct ml_block_copy {
    uint64_t offset;
    uint8_t *data; /* NULL: none */
    size_t len;
};

struct ml_block_reader {
    int fd; /* not owned */
    uint64_t file_bytes;
    const struct ml_block_copy *copy; /* read instead of these bytes of the file; NULL: none */
    struct ZSTD_DCtx_s *zstd;         /* NULL before the first compressed block */
    struct ml_block_room stored;
    struct ml_block_room unpacked;
    struct ml_block_room records;
    struct ml_address_model *model; /* NULL before the first events */
    uint8_t head[ML_BLOCK_HEADER_BYTES];
    struct ml_block_header header; /* of the block loaded last, or tried last */
    bool header_ok;                /* its magic and limits are valid */
    bool whole;                    /* and all its bytes are in the file */
    const char *reason;            /* after -EBADMSG: what is wrong with the block */
};

void ml_block_reader_init(struct ml_block_reader *r, int fd, uint64_t file_bytes);
void ml_block_reader_release(struct ml_block_reader *r);

/* Read the block at `offset` and verify its checksum.
 * @return 0, -EBADMSG with a reason, or the errno of a failed read or allocation */
int ml_block_load(struct ml_block_reader *r, uint64_t offset);

/* Decompress the loaded block.
 * @ret    set on success: header.raw_bytes bytes, valid until the next load
 * @return as ml_block_load */
int ml_block_unpack(struct ml_block_reader *r, const uint8_t **ret);

/* Decompress the loaded definitions block into its records.
 * @ret    set on success: *ret_len bytes, valid until the next load
 * @return as ml_block_load */
int ml_block_unpack_records(struct ml_block_reader *r, const uint8_t **ret, size_t *ret_len);

/* Load a block that the index or a walk has listed.
 * @return as ml_block_load; -EBADMSG also when the block is not as `entry` says */
int ml_block_load_entry(struct ml_block_reader *r, const struct ml_index_entry *entry);

/* The same for an events block, unpacked and ready to decode.
 * @ret    set on success; points into the reader's memory */
int ml_block_open_events(struct ml_block_reader *r, const struct ml_index_entry *entry,
                         struct ml_decoder *ret);

/* The index entry of a block with this header. */
struct ml_index_entry ml_block_entry(const struct ml_block_header *h, uint64_t offset);

/* Where a block with this header ends. */
static inline uint64_t ml_block_end(uint64_t offset, uint32_t stored_bytes)
{
    return offset + ML_BLOCK_HEADER_BYTES + stored_bytes;
}

#endif
