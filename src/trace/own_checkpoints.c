/* own_checkpoints.c: checkpoints in the file of the trace that they belong to.
 *
 * Their sections refer to each other by the numbers that their blocks have in a file of their own:
 * from 1, after a block of settings. In a trace they are all blocks of these types, in the same
 * order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "block_write.h"
#include "io.h"
#include "trace_impl.h"

static bool is_of_checkpoints(const struct ml_index_entry *entry)
{
    switch (entry->type) {
    case ML_BLOCK_CHECKPOINT:
    case ML_BLOCK_CLASSES:
    case ML_BLOCK_PYRAMID:
    case ML_BLOCK_DIRECTORY:
    case ML_BLOCK_LANDMARKS:
    case ML_BLOCK_SAMPLES: return true;
    default: return false;
    }
}

/* ---- Reading ----------------------------------------------------------------- */

static int take_blocks(const struct ml_trace *t, struct ml_trace *ret)
{
    int r = ml_vec_push(&ret->blocks, ((struct ml_index_entry){.type = ML_BLOCK_DEFS}));

    for (size_t i = 0; r == 0 && i < t->blocks.len; i++)
        if (is_of_checkpoints(&t->blocks.items[i]))
            r = ml_vec_push(&ret->blocks, t->blocks.items[i]);
    return r;
}

int ml_trace_own_checkpoints(const struct ml_trace *t, struct ml_trace **ret)
{
    struct ml_trace *own;
    int r;

    if (ml_trace_last_section(t, ML_BLOCK_DIRECTORY) < 0)
        return -ENOENT;
    own = calloc(1, sizeof(*own));
    if (!own)
        return -ENOMEM;
    own->info = t->info;
    own->path = strdup(t->path);
    own->fd = fcntl(t->fd, F_DUPFD_CLOEXEC, 0);
    r = own->fd < 0 ? -errno : own->path ? take_blocks(t, own) : -ENOMEM;
    if (r < 0)
        ml_trace_free(own);
    else
        *ret = own;
    return r;
}

/* ---- Writing ------------------------------------------------------------------ */

struct embedding {
    const struct ml_trace *t;
    struct ml_block_reader reader;
    struct ml_block_writer writer;
    struct ml_buf tail; /* the index and the trailer of the file as it is */
};

static uint64_t index_offset(const struct ml_trace *t)
{
    const struct ml_index_entry *last;

    if (t->blocks.len == 0)
        return ML_FILE_HEADER_BYTES;
    last = &t->blocks.items[t->blocks.len - 1];
    return ml_block_end(last->offset, last->stored_bytes);
}

static int keep_tail(struct embedding *e)
{
    uint64_t offset = index_offset(e->t);
    size_t len = (size_t)(e->t->info.file_bytes - offset);
    int r = ml_buf_reserve(&e->tail, len);

    e->tail.len = r < 0 ? 0 : len;
    return r < 0 ? r : ml_pread_all(e->t->fd, e->tail.data, len, offset);
}

static int begin_writing(struct embedding *e, int fd)
{
    const struct ml_trace *t = e->t;
    int r = ml_block_writer_continue(&e->writer, fd, t->blocks.items, t->blocks.len, &t->totals);

    if (r == 0)
        r = keep_tail(e);
    if (r == 0 && lseek(fd, (off_t)e->writer.offset, SEEK_SET) < 0)
        r = -errno;
    return r;
}

static int copy_blocks(struct embedding *e, const struct ml_trace *checkpoints)
{
    int r = 0;

    ml_block_reader_init(&e->reader, checkpoints->fd, checkpoints->info.file_bytes);
    for (size_t i = 0; r == 0 && i < checkpoints->blocks.len; i++) {
        const struct ml_index_entry *entry = &checkpoints->blocks.items[i];

        if (!is_of_checkpoints(entry))
            continue;
        r = ml_block_load_entry(&e->reader, entry);
        if (r == 0)
            r = ml_block_writer_copy(&e->writer, &e->reader.header, e->reader.stored.data);
    }
    ml_block_reader_release(&e->reader);
    return r;
}

static void put_back(const struct embedding *e, int fd)
{
    if (lseek(fd, (off_t)index_offset(e->t), SEEK_SET) >= 0 &&
        ml_write_all(fd, e->tail.data, e->tail.len) == 0 &&
        ftruncate(fd, (off_t)e->t->info.file_bytes) == 0)
        return;
}

int ml_trace_embed_checkpoints(const struct ml_trace *t, const struct ml_trace *checkpoints)
{
    struct embedding e = {.t = t};
    int r, fd = t->info.has_index ? open(t->path, O_RDWR | O_CLOEXEC | O_NOCTTY) : -1;

    if (fd < 0)
        return t->info.has_index ? -errno : -EINVAL;
    r = begin_writing(&e, fd);
    if (r == 0) {
        r = copy_blocks(&e, checkpoints);
        if (r == 0)
            r = ml_block_writer_finish(&e.writer);
        if (r < 0)
            put_back(&e, fd);
    }
    ml_block_writer_release(&e.writer);
    ml_buf_release(&e.tail);
    close(fd);
    return r;
}
