/* symbols_write.c: see symbols_write.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "symbols_write.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "block_write.h"
#include "file_lock.h"
#include "io.h"
#include "trace_impl.h"

/* The blocks before the section, which is the last of the file. */
static size_t blocks_kept(const struct ml_trace *t)
{
    size_t count = t->blocks.len;

    while (count > 0 && t->blocks.items[count - 1].type == ML_BLOCK_SYMBOLS)
        count--;
    return count;
}

static uint64_t end_of(const struct ml_trace *t, size_t blocks)
{
    const struct ml_index_entry *last = blocks ? &t->blocks.items[blocks - 1] : NULL;

    return last ? ml_block_end(last->offset, last->stored_bytes) : ML_FILE_HEADER_BYTES;
}

/* Writes from the file's position on, and cuts the file off there. */
static int write_end(int fd, const struct ml_trace *t, size_t kept, const uint8_t *bytes,
                     size_t len)
{
    struct ml_block_writer w;
    int r = ml_block_writer_continue(&w, fd, t->blocks.items, kept, &t->totals);

    if (r == 0)
        r = ml_block_writer_section(&w, ML_BLOCK_SYMBOLS, t->info.end_ns, bytes, len);
    if (r == 0)
        r = ml_block_writer_finish(&w);
    if (r == 0 && ftruncate(fd, (off_t)w.offset))
        r = -errno;
    ml_block_writer_release(&w);
    return r;
}

static void restore_end(int fd, uint64_t from, const struct ml_buf *old)
{
    if (lseek(fd, (off_t)from, SEEK_SET) == (off_t)from &&
        ml_write_all(fd, old->data, old->len) == 0 && ftruncate(fd, (off_t)(from + old->len)) == 0)
        return;
}

static int replace_end(int fd, const struct ml_trace *t, const uint8_t *bytes, size_t len)
{
    size_t kept = blocks_kept(t);
    uint64_t from = end_of(t, kept);
    struct ml_buf old = {0};
    int r = ml_buf_reserve(&old, t->info.file_bytes - from);

    if (r == 0)
        r = ml_pread_all(fd, old.data, t->info.file_bytes - from, from);
    if (r == 0) {
        old.len = t->info.file_bytes - from;
        r = lseek(fd, (off_t)from, SEEK_SET) < 0 ? -errno : write_end(fd, t, kept, bytes, len);
        if (r < 0)
            restore_end(fd, from, &old);
    }
    ml_buf_release(&old);
    return r;
}

int ml_trace_put_symbols(const struct ml_trace *trace, const uint8_t *bytes, size_t len,
                         struct ml_error *err)
{
    const char *path = trace->path;
    int fd, r;

    if (!trace->info.has_index)
        return ml_error_set(err, -ENODATA,
                            "%s: has no proper end, so nothing can be added to it; its recording "
                            "goes on or was killed",
                            path);
    fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return ml_error_set(err, -errno, "%s: cannot write to it: %s", path, strerror(errno));
    r = ml_file_lock(fd, path);
    if (r == -EBUSY)
        r = ml_file_lock_busy(path, fd, err);
    else if (r == 0)
        r = replace_end(fd, trace, bytes, len);
    close(fd);
    if (r < 0 && r != -EBUSY)
        ml_error_set(err, r, "%s: cannot store the symbols: %s", path, strerror(-r));
    return r;
}
