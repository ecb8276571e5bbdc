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
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "io.h"
#include "outside.h"
#include "passed_descriptor.h"
#include "seccomp_state.h"

#define RINGS_IN_A_SET 64
/* Messages from outside that are read at a time. */
#define OUTSIDE_MAX 64
#define FILES_WAITING 64 /* files that targets pass before the collector takes them */

static void file_in(const struct ml_session_dir *s, const char *name, char *out, size_t room)
{
    snprintf(out, room, "%s/%s", s->path, name);
}

static int make_page(struct ml_session_dir *s, const struct ml_session_opts *opts)
{
    char path[108];
    char zeros[sizeof(struct ml_session)] = {0};
    struct ml_seccomp_state seccomp = {0};
    struct ml_session *page;
    uint64_t key;
    int fd, r;

    if (getrandom(&key, sizeof(key), 0) != sizeof(key))
        return -errno;
    file_in(s, ML_SESSION_PAGE, path, sizeof(path));
    fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return -errno;
    /* Written, not extended by truncate: the blocks are allocated before the file is mapped. */
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
    page->heap_bytes = opts->heap_bytes;
    page->heap_seed = opts->heap_seed;
    page->cuda = opts->cuda;
    page->operators = opts->operators;
    page->stacks = opts->stacks;
    page->ring_bytes = opts->ring_bytes;
    page->ring_count = RINGS_IN_A_SET;
    page->seccomp_known = ml_seccomp_read("/proc/self/status", &seccomp);
    page->seccomp_mode = seccomp.mode;
    page->seccomp_filters = seccomp.filters;
    page->seccomp_counted = seccomp.counted;
    page->ring_asked = opts->ring_asked;
    page->turn = opts->paused;
    page->copies_wanted = opts->copies;
    page->launcher_pid = (uint32_t)getpid();
    page->key = key;
    page->magic = ML_SHARED_MAGIC;
    s->page = page;
    return 0;
}

static int listen_at(const struct sockaddr_un *at, socklen_t len)
{
    int on = 1, r;
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return -errno;
    if (!bind(fd, (const struct sockaddr *)at, len) &&
        !setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)))
        return fd;
    r = -errno;
    close(fd);
    return r;
}

static int listen_for_files(const struct sockaddr_un *at, socklen_t len)
{
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int r;

    if (fd < 0)
        return -errno;
    if (!bind(fd, (const struct sockaddr *)at, len) && !listen(fd, FILES_WAITING))
        return fd;
    r = -errno;
    close(fd);
    return r;
}

/* In the directory, and under the same path in the abstract namespace, for targets that have
 * dropped their rights or changed their root since they were started. A policy may forbid
 * all abstract names, or another process may have ours: then only those targets miss it. */
static int make_file_sockets(struct ml_session_dir *s)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    char path[sizeof(at.sun_path)];

    file_in(s, ML_SESSION_FILES, path, sizeof(path));
    strcpy(at.sun_path, path);
    s->files[0] = listen_for_files(&at, sizeof(at));
    s->files[1] = listen_for_files(&at, ml_abstract_address(&at, path));
    return s->files[0] < 0 ? s->files[0] : 0;
}

static int make_sockets(struct ml_session_dir *s)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};

    file_in(s, ML_SESSION_SOCKET, at.sun_path, sizeof(at.sun_path));
    s->socket = listen_at(&at, sizeof(at));
    /* A process may have ended when its hello is read. Older kernels do not support this. */
    (void)setsockopt(s->socket, SOL_SOCKET, ML_SO_PASSPIDFD, &(int){1}, sizeof(int));
    s->outside = listen_at(&at, ml_abstract_address(&at, s->path));
    return s->socket < 0 ? s->socket : make_file_sockets(s);
}

/* With a negative descriptor if there is none yet.
 * @ret_what  what could not be created, if anything */
static int make_in(struct ml_session_dir *s, const char *parent, const struct ml_session_opts *opts,
                   const char **ret_what)
{
    int r = ml_session_place_make(parent, s->path);

    *ret_what = "directory";
    if (r < 0)
        return r;
    s->lock = r;
    *ret_what = "file";
    r = make_page(s, opts);
    if (!r) {
        *ret_what = "socket";
        r = make_sockets(s);
    }
    if (r)
        ml_session_dir_release(s);
    else
        ml_session_place_sweep(parent);
    return r;
}

static const char *way_out(int error)
{
    switch (-error) {
    case EFBIG: return "see ulimit -f";
    case EMFILE: return "see ulimit -n";
    case ENOMEM: return "see ulimit -v";
    default: return "set TMPDIR";
    }
}

/* In memory rather than on a disk, where a store to the page can wait for the
 * disk, or fail with SIGBUS when it is full. XDG_RUNTIME_DIR is meant for such files and taken as
 * it is; of the others, those on disks come last. A place that cannot be used, such as one that is
 * full or whose name is too long, is skipped. */
#define PARENTS 4

static void list_parents(const char *ret[PARENTS])
{
    const char *temporary = getenv("TMPDIR");
    const char *const others[] = {temporary ? temporary : "", "/dev/shm", "/tmp"};
    size_t n = 0;

    ret[n++] = getenv("XDG_RUNTIME_DIR");
    for (int in_memory = 1; in_memory >= 0; in_memory--) {
        for (size_t i = 0; i < ML_ARRAY_SIZE(others); i++) {
            if (ml_session_place_in_memory(others[i]) == in_memory)
                ret[n++] = others[i];
        }
    }
}

int ml_session_dir_init(struct ml_session_dir *s, const struct ml_session_opts *opts,
                        struct ml_error *err)
{
    const char *parents[PARENTS];
    const char *what = "directory";
    int r = -ENOENT;

    list_parents(parents);
    for (size_t i = 0; i < PARENTS; i++) {
        *s = (struct ml_session_dir){.lock = -1, .socket = -1, .outside = -1, .files = {-1, -1}};
        if (parents[i] && *parents[i])
            r = make_in(s, parents[i], opts, &what);
        if (!r)
            return 0;
    }
    return ml_error_set(err, r, "cannot make a %s in TMPDIR or /tmp: %s; %s", what, strerror(-r),
                        way_out(r));
}

int ml_session_dir_reach(struct ml_session_dir *s, char library[PATH_MAX], struct ml_error *err)
{
    char path[108];

    if (!strpbrk(library, " :"))
        return 0;
    file_in(s, ML_SESSION_LIBRARY, path, sizeof(path));
    if (symlink(library, path))
        return ml_error_set(err, -errno, "cannot make %s: %s", path, strerror(errno));
    strcpy(library, path);
    return 0;
}

/* @return whether there was a message */
static bool hear_one(struct ml_session_dir *s)
{
    struct ml_unreached message;
    struct iovec body = {&message, sizeof(message)};
    alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(struct ucred))];
    struct msghdr msg = {.msg_iov = &body,
                         .msg_iovlen = 1,
                         .msg_control = control,
                         .msg_controllen = sizeof(control)};
    ssize_t n = s->outside < 0 ? -1 : recvmsg(s->outside, &msg, MSG_CMSG_CLOEXEC);
    struct cmsghdr *from = n == sizeof(message) ? CMSG_FIRSTHDR(&msg) : NULL;
    struct ucred who;

    if (!from || from->cmsg_type != SCM_CREDENTIALS || message.magic != ML_SHARED_MAGIC)
        return n >= 0;
    memcpy(&who, CMSG_DATA(from), sizeof(who));
    ml_session_add_unreached(s->page, message.error, who.uid);
    return true;
}

/* Bounded: any process can send here. */
void ml_session_dir_hear(struct ml_session_dir *s)
{
    for (int i = 0; i < OUTSIDE_MAX && hear_one(s); i++)
        continue;
}

static void close_one(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

void ml_session_dir_detach(struct ml_session_dir *s)
{
    close_one(&s->socket);
    close_one(&s->outside);
    close_one(&s->files[0]);
    close_one(&s->files[1]);
    if (s->page)
        munmap(s->page, sizeof(*s->page));
    s->page = NULL;
    close_one(&s->lock);
}

void ml_session_dir_release(struct ml_session_dir *s)
{
    ml_session_place_remove(s->path);
    ml_session_dir_detach(s);
}
