/* sections.c: sections: blocks of one type that continue each other.
 *
 * The count in a block's header is the number of blocks of its section that follow.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>

#include "trace_impl.h"

static bool is_part(const struct ml_index_entry *e, uint8_t type, size_t following)
{
    return e->type == type && e->events == following;
}

static int append_block(struct ml_block_reader *reader, const struct ml_index_entry *entry,
                        struct ml_buf *ret)
{
    const uint8_t *raw;
    int r = ml_block_load_entry(reader, entry);

    if (r == 0 && reader->header.raw_bytes > ml_trace_most_raw(reader->file_bytes) - ret->len)
        r = -EBADMSG;
    if (r == 0)
        r = ml_block_unpack(reader, &raw);
    return r < 0 ? r : ml_buf_append(ret, raw, reader->header.raw_bytes);
}

int ml_trace_read_section(const struct ml_trace *t, size_t first, uint8_t type, struct ml_buf *ret)
{
    struct ml_block_reader reader;
    size_t following = 0;
    int r = 0;

    ml_buf_clear(ret);
    if (first < t->blocks.len)
        following = t->blocks.items[first].events;
    if (first >= t->blocks.len || following >= t->blocks.len - first)
        return -EBADMSG;
    ml_block_reader_init(&reader, t->fd, t->info.file_bytes);
    for (size_t i = 0; r == 0 && i <= following; i++) {
        const struct ml_index_entry *entry = &t->blocks.items[first + i];

        r = is_part(entry, type, following - i) ? append_block(&reader, entry, ret) : -EBADMSG;
    }
    ml_block_reader_release(&reader);
    return r;
}

int64_t ml_trace_last_section(const struct ml_trace *t, uint8_t type)
{
    for (size_t i = t->blocks.len; i > 0; i--) {
        const struct ml_index_entry *entry = &t->blocks.items[i - 1];
        bool begins =
            i == 1 || t->blocks.items[i - 2].type != type || t->blocks.items[i - 2].events == 0;

        if (entry->type == type && begins)
            return (int64_t)i - 1;
    }
    return -ENOENT;
}

int ml_trace_check_blocks(const struct ml_trace *t, uint8_t type)
{
    struct ml_block_reader reader;
    int r = 0;

    ml_block_reader_init(&reader, t->fd, t->info.file_bytes);
    for (size_t i = 0; r == 0 && i < t->blocks.len; i++)
        if (type == 0 || t->blocks.items[i].type == type)
            r = ml_block_load_entry(&reader, &t->blocks.items[i]);
    ml_block_reader_release(&reader);
    return r;
}
