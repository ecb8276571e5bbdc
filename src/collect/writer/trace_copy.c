/* trace_copy.c: see trace_copy.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "trace_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdnoreturn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "block_write.h"
#include "io.h"
#include "part_file.h"

#define CHUNK_BYTES (1u << 20)

static int copy_bytes(int from, int to, uint64_t bytes)
{
    uint8_t *chunk = malloc(CHUNK_BYTES);
    int r = chunk ? 0 : -ENOMEM;

    for (uint64_t at = 0; r == 0 && at < bytes;) {
        size_t len = (size_t)ml_min_u64(CHUNK_BYTES, bytes - at);

        r = ml_pread_all(from, chunk, len, at);
        if (r == 0)
            r = ml_write_all(to, chunk, len);
        at += len;
    }
    free(chunk);
    return r;
}

static int add_index(const struct ml_trace_writer *w, int to)
{
    struct ml_block_writer out;
    int r = ml_block_writer_continue(&out, to, w->index.items, w->index.len, &w->totals);

    if (r == 0)
        r = ml_block_writer_finish(&out);
    ml_block_writer_release(&out);
    return r;
}

/* Its own opening of the file: the writer's may not allow reading. */
static int copy_file(const struct ml_trace_writer *w, const char *path)
{
    char name[64], *part;
    int from, to, r;

    snprintf(name, sizeof(name), "/proc/self/fd/%d", w->fd);
    from = open(name, O_RDONLY | O_CLOEXEC);
    to = from < 0 ? -errno : ml_part_make(path, &part);
    if (to < 0)
        return to;
    r = copy_bytes(from, to, w->offset);
    if (r == 0)
        r = add_index(w, to);
    if (close(to) && r == 0)
        r = -errno;
    if (r == 0)
        r = ml_part_place(part, path, false);
    if (r < 0)
        unlink(part);
    return r;
}

int ml_trace_copy_start(struct ml_trace_writer *w, const char *path, pid_t *ret_child)
{
    pid_t child;

    ml_trace_writer_settle(w);
    if (w->error || !w->can_rewrite)
        return w->error ? w->error : -ESPIPE;
    child = fork();
    if (child == 0)
        _exit(copy_file(w, path) ? 1 : 0);
    if (child < 0)
        return -errno;
    *ret_child = child;
    return 0;
}

int ml_trace_copy_done(pid_t child, bool wait)
{
    int status;
    pid_t pid;

    do
        pid = waitpid(child, &status, wait ? 0 : WNOHANG);
    while (pid < 0 && errno == EINTR);
    if (pid == 0)
        return 0;
    return pid == child && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 1 : -EIO;
}
