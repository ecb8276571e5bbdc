/* output_file.c: see output_file.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file_lock.h"
#include "io.h"
#include "part_file.h"
#include "printable.h"

#define FLUSH_BYTES 65536

static int fail(struct ml_error *err, const char *path, int negative_errno)
{
    return ml_error_set(err, negative_errno, "%s: cannot write: %s", path,
                        strerror(-negative_errno));
}

static void release(struct ml_output *out)
{
    ml_buf_release(&out->text);
    free(out->path);
    free(out->written);
    *out = (struct ml_output){.fd = -1};
}

/* ---- Opening ------------------------------------------------------------ */

/* A part file is accessible to its owner only. This gives the finished file its normal mode. */
static int set_mode(int fd, const struct stat *old)
{
    mode_t mask = umask(0);

    umask(mask);
    return fchmod(fd, old ? old->st_mode & 0777 : 0666 & ~mask) < 0 ? -errno : 0;
}

static int open_named(struct ml_output *out, struct ml_error *err)
{
    struct stat st;
    bool exists = stat(out->path, &st) == 0;

    if (exists && S_ISDIR(st.st_mode))
        return ml_error_set(err, -EISDIR, "%s is a folder; give the name of a file", out->path);
    if (exists && !S_ISREG(st.st_mode)) {
        out->fd = open(out->path, O_WRONLY | O_CLOEXEC);
        return out->fd < 0 ? -errno : 0;
    }
    if (exists && !out->force)
        return ml_part_exists(out->path, err);
    if (exists && ml_file_lock_check(out->path, err))
        return -EBUSY;
    out->fd = ml_part_make(out->path, &out->written);
    return out->fd < 0 ? out->fd : set_mode(out->fd, exists ? &st : NULL);
}

int ml_output_open(struct ml_output *ret, const char *path, bool force, struct ml_error *err)
{
    struct ml_error reason = {0};
    int r;

    *ret = (struct ml_output){.fd = -1, .path = strdup(path), .force = force};
    r = ret->path ? 0 : -ENOMEM;
    if (r == 0 && strcmp(path, "-") == 0)
        ret->fd = STDOUT_FILENO;
    else if (r == 0)
        r = open_named(ret, &reason);
    ret->terminal = r == 0 && isatty(ret->fd);
    if (r == 0)
        return 0;
    if (reason.text[0])
        ml_error_set(err, r, "%s", reason.text);
    else
        fail(err, path, r);
    ml_output_abort(ret);
    return r;
}

bool ml_output_has_file(const struct ml_output *out)
{
    return out->written != NULL;
}

/* ---- Writing ------------------------------------------------------------ */

static int show(struct ml_output *out)
{
    struct ml_buf shown = {0};
    int r = ml_escape_to(&shown, (const char *)out->text.data, out->text.len, "\n\t");

    if (r == 0)
        r = ml_write_all(out->fd, shown.data, shown.len);
    ml_buf_release(&shown);
    return r;
}

int ml_output_flush(struct ml_output *out)
{
    int r = out->terminal ? show(out) : ml_write_all(out->fd, out->text.data, out->text.len);

    ml_buf_clear(&out->text);
    return r;
}

int ml_output_line(struct ml_output *out)
{
    return out->text.len < FLUSH_BYTES ? 0 : ml_output_flush(out);
}

/* ---- The end ------------------------------------------------------------ */

static int close_file(struct ml_output *out)
{
    int fd = out->fd;

    out->fd = -1;
    return fd > STDERR_FILENO && close(fd) < 0 ? -errno : 0;
}

int ml_output_commit(struct ml_output *out, struct ml_error *err)
{
    int r = ml_output_flush(out), closed = close_file(out);

    if (r == 0)
        r = closed;
    if (r == 0 && out->written)
        r = ml_part_place(out->written, out->path, out->force);
    if (r < 0) {
        if (r == -EEXIST)
            ml_part_exists(out->path, err);
        else
            fail(err, out->path, r);
        ml_output_abort(out);
        return r;
    }
    release(out);
    return 0;
}

int ml_output_failed(const struct ml_output *out, int r, struct ml_error *err)
{
    return err->text[0] ? r : fail(err, out->path, r);
}

void ml_output_abort(struct ml_output *out)
{
    close_file(out);
    if (out->written)
        unlink(out->written);
    release(out);
}
