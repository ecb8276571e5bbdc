/* resync.c: finds the next block after a damaged one.
 *
 * First tries the damaged block's own length, if it leads to another block header; else
 * searches for the four magic bytes of a header whose block has a valid checksum.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "trace_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io.h"

#define MAGIC "MLBK"
#define MAGIC_BYTES 4
#define WINDOW_BYTES 65536u

static bool header_stands_at(const struct ml_block_reader *r, uint64_t offset)
{
    uint8_t head[ML_BLOCK_HEADER_BYTES];
    struct ml_block_header h;

    return offset < r->file_bytes && !ml_pread_all(r->fd, head, sizeof(head), offset) &&
           ml_block_header_get(head, &h) == ML_FRAME_OK;
}

/* @return 1 for a whole block, 0 for a false or broken one, or negative errno */
static int try_block(struct ml_resync *s, struct ml_block_reader *r, uint64_t offset)
{
    int code = ml_block_load(r, offset);

    if (!code)
        return 1;
    if (r->whole)
        s->budget_bytes -= ml_min_u64(s->budget_bytes, r->header.stored_bytes);
    return code == -ENOMEM ? code : 0;
}

/* Try each magic in the window, which holds the file's bytes from `offset`. */
static int try_window(struct ml_resync *s, struct ml_block_reader *r, const uint8_t *window,
                      size_t len, uint64_t offset, uint64_t *ret)
{
    const uint8_t *at = window;

    while (s->budget_bytes && (at = memmem(at, len - (size_t)(at - window), MAGIC, MAGIC_BYTES))) {
        int code = try_block(s, r, offset + (uint64_t)(at - window));

        if (code) {
            *ret = offset + (uint64_t)(at - window);
            return code;
        }
        at++;
    }
    return 0;
}

/* A sparse file may end in a hole of any size, which contains no block.
 * @return the next offset that may hold data, UINT64_MAX when none does */
static uint64_t skip_hole(const struct ml_block_reader *r, uint64_t offset)
{
    off_t data = lseek(r->fd, (off_t)offset, SEEK_DATA);

    if (data < 0)
        return errno == ENXIO ? UINT64_MAX : offset;
    return ml_max_u64(offset, (uint64_t)data);
}

static int search(struct ml_resync *s, struct ml_block_reader *r, uint64_t offset, uint64_t *ret)
{
    uint8_t *window = malloc(WINDOW_BYTES);
    int code = window ? 0 : -ENOMEM;

    while (!code && s->budget_bytes) {
        size_t len;

        offset = skip_hole(r, offset);
        if (offset > r->file_bytes - ML_BLOCK_HEADER_BYTES)
            break;
        len = (size_t)ml_min_u64(WINDOW_BYTES, r->file_bytes - offset);
        if (!ml_pread_all(r->fd, window, len, offset))
            code = try_window(s, r, window, len, offset, ret);
        offset += len - (MAGIC_BYTES - 1); /* a magic may span two windows */
    }
    free(window);
    return code;
}

int ml_resync(struct ml_resync *s, struct ml_block_reader *r, uint64_t offset, uint64_t *ret)
{
    if (r->whole) {
        uint64_t end = ml_block_end(offset, r->header.stored_bytes);

        s->budget_bytes -= ml_min_u64(s->budget_bytes, r->header.stored_bytes);
        if (header_stands_at(r, end)) {
            *ret = end;
            return 1;
        }
    }
    return search(s, r, offset + 1, ret);
}
