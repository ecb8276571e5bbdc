/* trace_end.c: see trace_end.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "trace_end.h"

#include <errno.h>
#include <unistd.h>

#include "io.h"

/* Writes from the file's position on, and cuts the file off there. */
static int write_end(struct ml_block_writer *w, ml_trace_end_fn *add, const void *ctx)
{
    int r = lseek(w->fd, (off_t)w->offset, SEEK_SET) < 0 ? -errno : add(w, ctx);

    if (r == 0)
        r = ml_block_writer_finish(w);
    return r == 0 && ftruncate(w->fd, (off_t)w->offset) ? -errno : r;
}

static void put_back(int fd, uint64_t from, const struct ml_buf *old)
{
    if (lseek(fd, (off_t)from, SEEK_SET) == (off_t)from &&
        ml_write_all(fd, old->data, old->len) == 0 && ftruncate(fd, (off_t)(from + old->len)) == 0)
        return;
}

int ml_trace_replace_end(const struct ml_trace *t, int fd, size_t kept, ml_trace_end_fn *add,
                         const void *ctx)
{
    struct ml_block_writer writer;
    struct ml_buf old = {0};
    int r = ml_block_writer_continue(&writer, fd, t->blocks.items, kept, &t->totals);
    uint64_t from = writer.offset, len = t->info.file_bytes - from;

    if (r == 0)
        r = ml_buf_reserve(&old, len);
    if (r == 0)
        r = ml_pread_all(fd, old.data, len, from);
    if (r == 0) {
        old.len = len;
        r = write_end(&writer, add, ctx);
        if (r < 0)
            put_back(fd, from, &old);
    }
    ml_block_writer_release(&writer);
    ml_buf_release(&old);
    return r;
}
