/* fix_sums.c: recognises a trace, and corrects the checksums of a damaged one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "fuzz.h"

#include <string.h>

#include "block.h"
#include "varint.h"

bool fuzz_is_trace(const uint8_t *bytes, size_t len)
{
    struct ml_file_header header;

    return len >= ML_FILE_HEADER_BYTES && ml_file_header_get(bytes, &header) != ML_FRAME_NOT_OURS;
}

static void fix_file_header(uint8_t *bytes)
{
    struct ml_file_header h = {
        .major = ml_load_u16(bytes + 8),
        .minor = ml_load_u16(bytes + 10),
        .features = ml_load_u32(bytes + 12),
        .start_wall_ns = ml_load_u64(bytes + 16),
    };

    ml_file_header_put(bytes, &h);
}

static uint8_t *find_block(uint8_t *from, uint8_t *end)
{
    return from < end ? memmem(from, (size_t)(end - from), "MLBK", 4) : NULL;
}

/* What is left for the block at `at`: up to the next one, or to the trailer. */
static size_t room_of(uint8_t *at, uint8_t *end)
{
    uint8_t *next = find_block(at + ML_BLOCK_HEADER_BYTES, end);
    size_t room = (size_t)((next ? next : end) - at - ML_BLOCK_HEADER_BYTES);

    return !next && room >= ML_TRAILER_BYTES ? room - ML_TRAILER_BYTES : room;
}

static void fix_block(uint8_t *at, uint8_t *end, bool heal)
{
    size_t room = (size_t)(end - at) - ML_BLOCK_HEADER_BYTES;
    struct ml_block_header h;

    ml_block_header_get(at, &h); /* filled in even if it breaks a limit */
    if (heal) {
        h.stored_bytes = (uint32_t)room_of(at, end);
        if (h.codec == ML_CODEC_STORED)
            h.raw_bytes = h.stored_bytes;
    }
    if (h.stored_bytes <= room)
        ml_block_header_put(at, &h, at + ML_BLOCK_HEADER_BYTES);
}

static void fix_trailer(uint8_t *bytes, size_t len, uint64_t last_block, bool heal)
{
    uint8_t *at = bytes + len - ML_TRAILER_BYTES;
    struct ml_trailer t = {ml_load_u64(at), ml_load_u64(at + 8)};

    if (memcmp(at + 24, "mledend\n", 8))
        return;
    if (heal)
        t = (struct ml_trailer){last_block, len};
    ml_trailer_put(at, &t);
}

void fuzz_fix_sums(uint8_t *bytes, size_t len, bool heal)
{
    uint8_t *end = bytes + len, *at = bytes + ML_FILE_HEADER_BYTES;
    uint64_t last_block = 0;

    if (len < ML_FILE_HEADER_BYTES)
        return;
    fix_file_header(bytes);
    while ((at = find_block(at, end)) && (size_t)(end - at) >= ML_BLOCK_HEADER_BYTES) {
        fix_block(at, end, heal);
        last_block = (uint64_t)(at - bytes);
        at += 4;
    }
    if (len >= ML_FILE_HEADER_BYTES + ML_TRAILER_BYTES)
        fix_trailer(bytes, len, last_block, heal);
}
