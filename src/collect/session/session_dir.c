/* session_dir.c: makes and removes the session directory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "session_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
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

/* The restrictions that do not count: those of this process, or of a target that already runs. */
static void note_seccomp(struct ml_session *page, pid_t target)
{
    struct ml_seccomp_state state = {0}, theirs;
    char path[64];

    page->seccomp_known = ml_seccomp_read("/proc/self/status", &state);
    snprintf(path, sizeof(path), "/proc/%d/status", (int)target);
    if (target && ml_seccomp_read(path, &theirs) && ml_seccomp_is_more(&theirs, &state))
        state = theirs;
    page->seccomp_mode = state.mode;
    page->seccomp_filters = state.filters;
    page->seccomp_counted = state.counted;
}

static int make_page(struct ml_session_dir *s, const struct ml_session_opts *opts)
{
    char zeros[sizeof(struct ml_session)] = {0};
    struct ml_session *page;
    uint64_t key;
    int fd, r;

    if (getrandom(&key, sizeof(key), 0) != sizeof(key))
        return -errno;
    fd = openat(s->lock, ML_SESSION_PAGE, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
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
    note_seccomp(page, opts->target);
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

/* An abstract name is valid in one network namespace. Enters that of a target that already runs.
 * @return a descriptor with which to go back; -1: stays */
static int enter_network(pid_t target)
{
    char path[64];
    int own = -1, theirs;

    snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)target);
    theirs = target ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (theirs >= 0)
        own = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    if (own >= 0 && setns(theirs, CLONE_NEWNET)) {
        close(own);
        own = -1;
    }
    if (theirs >= 0)
        close(theirs);
    return own;
}

static void leave_network(int own)
{
    if (own < 0)
        return;
    (void)setns(own, CLONE_NEWNET);
    close(own);
}

/* In the directory, and under the same path in the abstract namespace, for targets that have
 * dropped their rights or changed their root since they were started. A policy may forbid
 * all abstract names, or another process may have ours: then only those targets miss it. */
static void make_abstract_sockets(struct ml_session_dir *s, pid_t target)
{
    char name[sizeof(((struct sockaddr_un *)0)->sun_path)];
    int own_network = enter_network(target);
    struct sockaddr_un at;

    s->outside = listen_at(&at, ml_abstract_address(&at, s->inside));
    snprintf(name, sizeof(name), "%s/%s", s->inside, ML_SESSION_FILES);
    s->files[1] = listen_for_files(&at, ml_abstract_address(&at, name));
    leave_network(own_network);
}

/* A target that already runs may own the folder, and put a link to another in its place: the
 * descriptor leads to this one. */
static void name_socket(const struct ml_session_dir *s, pid_t target, const char *name,
                        struct sockaddr_un *ret)
{
    if (target)
        snprintf(ret->sun_path, sizeof(ret->sun_path), ML_OPEN_FOLDER "%d/%s", s->lock, name);
    else
        file_in(s, name, ret->sun_path, sizeof(ret->sun_path));
}

static int make_sockets(struct ml_session_dir *s, pid_t target)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};

    name_socket(s, target, ML_SESSION_SOCKET, &at);
    s->socket = listen_at(&at, sizeof(at));
    /* A process may have ended when its hello is read. Older kernels do not support this. */
    (void)setsockopt(s->socket, SOL_SOCKET, ML_SO_PASSPIDFD, &(int){1}, sizeof(int));
    if (s->socket < 0)
        return s->socket;
    name_socket(s, target, ML_SESSION_FILES, &at);
    s->files[0] = listen_for_files(&at, sizeof(at));
    make_abstract_sockets(s, target);
    return s->files[0] < 0 ? s->files[0] : 0;
}

/* Names the folder as the targets do. */
static int name_inside(struct ml_session_dir *s, const char *parent_inside)
{
    int n = parent_inside ? snprintf(s->inside, sizeof(s->inside), "%s%s", parent_inside,
                                     strrchr(s->path, '/'))
                          : snprintf(s->inside, sizeof(s->inside), "%s", s->path);

    return n < (int)sizeof(s->inside) ? 0 : -ENAMETOOLONG;
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
    r = name_inside(s, opts->parent_inside);
    if (!r)
        r = make_page(s, opts);
    if (!r) {
        *ret_what = "socket";
        r = make_sockets(s, opts->target);
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

static void list_parents(const char *only, const char *ret[PARENTS])
{
    const char *temporary = getenv("TMPDIR");
    const char *const others[] = {temporary ? temporary : "", "/dev/shm", "/tmp"};
    size_t n = 0;

    ret[n++] = only ? only : getenv("XDG_RUNTIME_DIR");
    while (only && n < PARENTS)
        ret[n++] = NULL;
    if (only)
        return;
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
    const struct ml_file_user user = ml_file_user_of(opts->target ? opts->target : getpid());
    const char *what = "directory";
    int r = -ENOENT;

    ml_file_user_begin(&user);
    list_parents(opts->parent, parents);
    for (size_t i = 0; i < PARENTS && r; i++) {
        *s = (struct ml_session_dir){
            .user = user, .lock = -1, .socket = -1, .outside = -1, .files = {-1, -1}};
        if (parents[i] && *parents[i])
            r = make_in(s, parents[i], opts, &what);
    }
    ml_file_user_end(&user);
    if (!r)
        return 0;
    if (opts->parent)
        return ml_error_set(err, r, "cannot make a %s in %s of process %d: %s", what,
                            opts->parent_inside ? opts->parent_inside : opts->parent,
                            (int)opts->target, strerror(-r));
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
    ml_file_user_begin(&s->user);
    ml_session_place_remove(s->path);
    ml_file_user_end(&s->user);
    ml_session_dir_detach(s);
}
