/* trace_index.c: the list of blocks from the index at the end of the file.
 *
 * The index is trusted only if it agrees with the file: its blocks must be contiguous from the
 * file header to the index itself.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "trace_impl.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "io.h"
#include "varint.h"

/* @return 1 when there is a trailer that fits the file, 0 when not, or the
 *         negative errno of a failed read */
static int load_trailer(const struct ml_trace *t, struct ml_trailer *ret)
{
    uint64_t file_bytes = t->info.file_bytes;
    uint8_t bytes[ML_TRAILER_BYTES];
    int code;

    if (file_bytes < ML_FILE_HEADER_BYTES + ML_BLOCK_HEADER_BYTES + ML_TRAILER_BYTES)
        return 0;
    code = ml_pread_all(t->fd, bytes, sizeof(bytes), file_bytes - sizeof(bytes));
    if (code == -ENODATA)
        return 0; /* it shrank: it is being written */
    if (code)
        return code;
    if (ml_trailer_get(bytes, ret) != ML_FRAME_OK || ret->file_bytes != file_bytes)
        return 0;
    return 1;
}

static bool entry_is_sane(const struct ml_index_entry *e)
{
    return e->last_ns <= INT64_MAX &&
           (e->type != ML_BLOCK_EVENTS || e->events <= ML_BLOCK_MAX_EVENTS);
}

static int add_entries(struct ml_trace *t, uint64_t count, const uint8_t *in, const uint8_t *end,
                       uint64_t index_offset)
{
    uint64_t previous = 0, expected = ML_FILE_HEADER_BYTES;

    while (count--) {
        struct ml_index_entry e;

        in = ml_index_entry_get(in, end, previous, &e);
        if (!in || e.offset != expected || !entry_is_sane(&e))
            return -EBADMSG;
        previous = e.offset;
        expected = ml_block_end(e.offset, e.stored_bytes);
        if (expected > index_offset)
            return -EBADMSG;
        if (ml_vec_push(&t->blocks, e))
            return -ENOMEM;
    }
    if (expected != index_offset || !ml_index_totals_get(in, end, &t->totals))
        return -EBADMSG;
    return 0;
}

/* Checks before unpacking anything that the file has room for that many blocks before the
 * index. */
static int load_entries(struct ml_trace *t, struct ml_block_reader *r, uint64_t offset)
{
    uint64_t most = offset / ML_BLOCK_HEADER_BYTES, count = 0;
    const uint8_t *in, *end;
    int code = ml_block_load(r, offset);

    if (code)
        return code;
    r->reason = "not a valid index block";
    if (r->header.type != ML_BLOCK_INDEX ||
        ml_block_end(offset, r->header.stored_bytes) != t->info.file_bytes - ML_TRAILER_BYTES ||
        r->header.raw_bytes > ML_INDEX_COUNT_MAX + most * ML_INDEX_ENTRY_MAX + ML_INDEX_TOTALS_MAX)
        return -EBADMSG;
    code = ml_block_unpack(r, &in);
    if (code)
        return code;
    end = in + r->header.raw_bytes;
    in = ml_varint_get(in, end, &count);
    r->reason = "its entries contradict the file";
    if (!in || count > most)
        return -EBADMSG;
    return add_entries(t, count, in, end, offset);
}

int ml_trace_load_index(struct ml_trace *t, struct ml_block_reader *r, struct ml_error *err)
{
    struct ml_trailer trailer = {0};
    int code = load_trailer(t, &trailer);

    if (code < 0)
        return ml_error_set(err, code, "%s: cannot read the end of the file: %s", t->path,
                            strerror(-code));
    if (!code)
        return 0;
    code = load_entries(t, r, trailer.index_offset);
    if (!code)
        return 1;
    ml_vec_clear(&t->blocks);
    if (code != -EBADMSG)
        return ml_trace_block_error(t, trailer.index_offset, code, NULL, err);
    return ml_error_set(err, code,
                        "%s: the index at byte %" PRIu64
                        " is damaged (%s); %s reads the file without it",
                        t->path, trailer.index_offset, r->reason, t->salvage_by);
}
