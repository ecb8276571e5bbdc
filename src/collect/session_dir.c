/* session_dir.c: makes and removes the session directory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "session_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "io.h"

#define RINGS_IN_A_SET 64
#define LIBRARY_LINK "recorder.so"
#define FILES_WAITING 64 /* files that targets hand over before the collector looks */

/* In memory rather than on a disk, where a store to the page can wait for the
 * disk, or fail with SIGBUS when it is full. */
static int make_directory(struct ml_session_dir *s)
{
    const char *parents[] = {getenv("XDG_RUNTIME_DIR"), getenv("TMPDIR"), "/dev/shm", "/tmp"};

    for (size_t i = 0; i < ML_ARRAY_SIZE(parents); i++) {
        const char *parent = parents[i];
        size_t room = sizeof(s->path);
        if (!parent || snprintf(s->path, room, "%s/memledger-XXXXXX", parent) >= (int)room)
            continue;
        if (mkdtemp(s->path))
            return 0;
    }
    return -errno;
}

static void file_in(const struct ml_session_dir *s, const char *name, char *out, size_t room)
{
    snprintf(out, room, "%s/%s", s->path, name);
}

static int make_page(struct ml_session_dir *s, const struct ml_session_opts *opts)
{
    char path[108];
    char zeros[sizeof(struct ml_session)] = {0};
    struct ml_session *page;
    int fd, r;

    file_in(s, ML_SESSION_PAGE, path, sizeof(path));
    fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return -errno;
    /* Written, not truncated up: the blocks are there before anybody maps them. */
    r = ml_write_all(fd, zeros, sizeof(zeros));
    page = r ? MAP_FAILED : mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (!r && page == MAP_FAILED)
        r = -errno;
    close(fd);
    if (r)
        return r;
    page->version = ML_SHARED_VERSION;
    page->clock = opts->clock;
    page->heap = opts->heap;
    page->cuda = opts->cuda;
    page->operators = opts->operators;
    page->stacks = opts->stacks;
    page->ring_bytes = opts->ring_bytes;
    page->ring_count = RINGS_IN_A_SET;
    page->magic = ML_SHARED_MAGIC;
    s->page = page;
    return 0;
}

static int make_socket(struct ml_session_dir *s)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int on = 1;

    file_in(s, ML_SESSION_SOCKET, at.sun_path, sizeof(at.sun_path));
    s->socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (s->socket < 0 || bind(s->socket, (struct sockaddr *)&at, sizeof(at)) ||
        setsockopt(s->socket, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)))
        return -errno;
    return 0;
}

/* In the directory, and under the same path in the abstract namespace, for targets that have
 * dropped their rights or changed their root since they were started. */
static int make_file_sockets(struct ml_session_dir *s)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    size_t len;

    file_in(s, ML_SESSION_FILES, at.sun_path, sizeof(at.sun_path) - 1);
    len = strlen(at.sun_path);
    for (int i = 0; i < 2; i++) {
        size_t bytes = i ? offsetof(struct sockaddr_un, sun_path) + 1 + len : sizeof(at);
        if (i) {
            memmove(at.sun_path + 1, at.sun_path, len);
            at.sun_path[0] = '\0';
        }
        s->files[i] = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (s->files[i] < 0 || bind(s->files[i], (struct sockaddr *)&at, (socklen_t)bytes) ||
            listen(s->files[i], FILES_WAITING))
            return -errno;
    }
    return 0;
}

int ml_session_dir_init(struct ml_session_dir *s, const struct ml_session_opts *opts,
                        struct ml_error *err)
{
    int r;

    memset(s, 0, sizeof(*s));
    s->socket = s->files[0] = s->files[1] = -1;
    r = make_directory(s);
    if (r)
        return ml_error_set(err, r, "cannot make a directory in TMPDIR or /tmp: %s; set TMPDIR",
                            strerror(-r));
    r = make_page(s, opts);
    if (!r)
        r = make_socket(s);
    if (!r)
        r = make_file_sockets(s);
    if (r) {
        ml_error_set(err, r, "cannot set up %s: %s; set TMPDIR to another place", s->path,
                     strerror(-r));
        ml_session_dir_release(s);
    }
    return r;
}

int ml_session_dir_reach(struct ml_session_dir *s, char library[PATH_MAX], struct ml_error *err)
{
    char path[108];

    if (!strpbrk(library, " :"))
        return 0;
    file_in(s, LIBRARY_LINK, path, sizeof(path));
    if (symlink(library, path))
        return ml_error_set(err, -errno, "cannot make %s: %s", path, strerror(errno));
    strcpy(library, path);
    return 0;
}

static void close_socket(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

void ml_session_dir_detach(struct ml_session_dir *s)
{
    close_socket(&s->socket);
    close_socket(&s->files[0]);
    close_socket(&s->files[1]);
    if (s->page)
        munmap(s->page, sizeof(*s->page));
    s->page = NULL;
}

void ml_session_dir_release(struct ml_session_dir *s)
{
    char path[108];

    ml_session_dir_detach(s);
    file_in(s, ML_SESSION_SOCKET, path, sizeof(path));
    unlink(path);
    file_in(s, ML_SESSION_FILES, path, sizeof(path));
    unlink(path);
    file_in(s, ML_SESSION_PAGE, path, sizeof(path));
    unlink(path);
    file_in(s, LIBRARY_LINK, path, sizeof(path));
    unlink(path);
    rmdir(s->path);
}
