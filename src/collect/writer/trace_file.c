/* trace_file.c: see trace_file.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file_lock.h"
#include "folders.h"
#include "part_file.h"

/* How often a file may vanish between opening and locking. */
#define TRIES 10

static int open_fails(const char *path, int code, struct ml_error *err)
{
    if (code == ENXIO)
        return ml_error_set(err, -ENXIO,
                            "nothing reads from %s; start its reader first, or choose another "
                            "place with -o",
                            path);
    return ml_error_set(err, -code, "cannot create %s: %s; choose another place with -o", path,
                        strerror(code));
}

static int in_the_way(const char *path, struct ml_error *err)
{
    int r = ml_file_lock_check(path, err);

    return r ? r : ml_part_exists(path, err);
}

/* A pipe has no contents to lose; a device may be a disk. */
static bool is_pipe(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISFIFO(st.st_mode);
}

static int open_new(const char *path)
{
    return open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
}

/* @return 0 with the descriptor, or the error */
static int open_any(struct ml_trace_file *f, const char *path, bool force, struct ml_error *err)
{
    int r = 0;

    f->fd = open_new(path);
    if (f->fd < 0 && errno == ENOENT && (r = ml_folders_make(path)) == 0)
        f->fd = open_new(path);
    if (r < 0 && r != -ENOENT)
        return ml_error_set(err, r,
                            "cannot create the folder of %s: %s; choose another place with -o",
                            path, strerror(-r));
    f->is_new = f->fd >= 0;
    if (f->fd < 0 && errno == EEXIST && !force && !is_pipe(path))
        return in_the_way(path, err);
    if (f->fd < 0 && errno == EEXIST)
        f->fd = open(path, O_WRONLY | O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600);
    return f->fd < 0 ? open_fails(path, errno, err) : 0;
}

/* @return 0, -EAGAIN: try again, or the error */
static int take(struct ml_trace_file *f, const char *path, struct ml_error *err)
{
    struct stat st;
    int r = fstat(f->fd, &st) ? open_fails(path, errno, err) : 0;

    if (r)
        return r;
    f->is_regular = S_ISREG(st.st_mode);
    fcntl(f->fd, F_SETFL, fcntl(f->fd, F_GETFL) & ~O_NONBLOCK);
    r = f->is_regular ? ml_file_lock(f->fd, path) : 0;
    return r == -EBUSY ? ml_file_lock_busy(path, f->fd, err) : r;
}

void ml_trace_file_make_private(int fd)
{
    struct stat st;

    if (!fstat(fd, &st) && st.st_mode & 077)
        fchmod(fd, 0600);
}

int ml_trace_file_open(struct ml_trace_file *ret, const char *path, bool force,
                       struct ml_error *err)
{
    struct ml_trace_file f;
    int r = -EAGAIN;

    for (int i = 0; r == -EAGAIN && i < TRIES; i++) {
        r = open_any(&f, path, force, err);
        if (!r && (r = take(&f, path, err)))
            close(f.fd);
    }
    if (r == -EAGAIN)
        return open_fails(path, EAGAIN, err);
    if (!r)
        *ret = f;
    return r;
}
