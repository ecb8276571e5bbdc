/* section_write.c: see section_write.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "section_write.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "file_lock.h"
#include "trace_end.h"

/* The blocks before the section, if the file ends with one of this type; else all. */
static size_t blocks_kept(const struct ml_trace *t, uint8_t type)
{
    size_t count = t->blocks.len;

    while (count > 0 && t->blocks.items[count - 1].type == type)
        count--;
    return count;
}

struct section {
    uint8_t type;
    const uint8_t *bytes;
    size_t len;
    uint64_t time_ns;
};

static int add_section(struct ml_block_writer *w, const void *ctx)
{
    const struct section *s = ctx;

    return ml_block_writer_section(w, s->type, s->time_ns, s->bytes, s->len);
}

int ml_trace_put_section(const struct ml_trace *trace, uint8_t type, const uint8_t *bytes,
                         size_t len, struct ml_error *err)
{
    const struct section section = {type, bytes, len, trace->info.end_ns};
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
        r = ml_trace_replace_end(trace, fd, blocks_kept(trace, type), add_section, &section);
    close(fd);
    if (r < 0 && r != -EBUSY)
        ml_error_set(err, r, "%s: cannot add to it: %s", path, strerror(-r));
    return r;
}
