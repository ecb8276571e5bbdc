/* session.c: opens the session page, creates ring sets, says hello to the collector.
 *
 * No descriptor stays open: programs close descriptors that they do not know, and a number that we
 * kept could then denote a file of the program.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/time.h>
#include <unistd.h>

#include "collector_watch.h"
#include "compiler.h"
#include "defs.h"
#include "env_number.h"
#include "job_place.h"
#include "outside.h"
#include "recorder.h"
#include "ring_pages.h"
#include "session_files.h"
#include "sys.h"

#define FIRST_VERSION_WITH_NOTICES 8

/* Writes nothing to a page whose version had no `notices_said`. */
static void say_version(struct ml_session *s)
{
    bool has_notices = s->magic == ML_SHARED_MAGIC && s->version >= FIRST_VERSION_WITH_NOTICES;

    if (!has_notices || ml_session_tells(s, ML_NOTICE_VERSION))
        ml_sys_say("memledger: the recorder and the memledger command have different versions; "
                   "processes that load this recorder are not recorded\n");
}

/* Kept from the start: a program may clear its environment, then fork. */
static char session_dir[sizeof(((struct sockaddr_un *)0)->sun_path)];

static bool use_session_dir(const char *dir)
{
    if (!dir || strlen(dir) >= sizeof(session_dir))
        return false;
    strcpy(session_dir, dir);
    return true;
}

bool ml_session_path_in(const char *dir, char *out, size_t room, const char *file)
{
    size_t dir_len = strlen(dir);

    if (!dir_len || dir_len + 1 + strlen(file) + 1 > room)
        return false;
    strcpy(out, dir);
    out[dir_len] = '/';
    strcpy(out + dir_len + 1, file);
    return true;
}

bool ml_session_path(char *out, size_t room, const char *file)
{
    return ml_session_path_in(session_dir, out, room, file);
}

/* Reports to the session's creator, if it is still running, that the folder cannot be reached. */
static void tell_unreached(int error)
{
    struct ml_unreached message = {ML_SHARED_MAGIC, (uint32_t)error};
    struct sockaddr_un to;
    socklen_t len = ml_abstract_address(&to, session_dir);
    int fd = ml_calls_allowed() ? socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0) : -1;

    if (fd < 0)
        return;
    (void)sendto(fd, &message, sizeof(message), MSG_NOSIGNAL | MSG_DONTWAIT,
                 (const struct sockaddr *)&to, len);
    close(fd);
}

static bool is_unreached(int error)
{
    return error == EACCES || error == EPERM || error == ENOENT;
}

/* Reading past the end of a file that is too short would raise SIGBUS. This reads instead of
 * calling fstat: the loader reads files too, so a sandbox in which this process was started allows
 * it. */
bool ml_session_is_whole(int fd)
{
    size_t have = 0;
    char bytes[256];
    ssize_t n;

    while (have < sizeof(struct ml_session) && (n = read(fd, bytes, sizeof(bytes))) > 0)
        have += (size_t)n;
    return have >= sizeof(struct ml_session);
}

static uid_t session_user;

uid_t ml_session_user(void)
{
    return session_user;
}

/* @ret_differs  set if the page is of another version; NULL: that is reported on stderr */
static struct ml_session *open_page(uint32_t *ret_ring_bytes, uint32_t *ret_ring_count,
                                    bool *ret_differs)
{
    char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
    struct ml_session *s = NULL;
    struct stat st;
    int fd;

    if (!ml_session_path(path, sizeof(path), ML_SESSION_PAGE))
        return NULL;
    fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) {
        if (is_unreached(errno))
            tell_unreached(errno);
        return NULL;
    }
    if (!ml_session_is_whole(fd)) {
        if (ret_differs)
            *ret_differs = true; /* that of another version can be shorter */
    } else if (!fstat(fd, &st)) {
        s = ml_sys_map(sizeof(*s), MAP_SHARED, fd);
    }
    close(fd);
    if (!s)
        return NULL;
    session_user = st.st_uid;
    if (s->magic != ML_SHARED_MAGIC || s->version != ML_SHARED_VERSION) {
        if (ret_differs)
            *ret_differs = true;
        else
            say_version(s);
        ml_sys_unmap(s, sizeof(*s));
        return NULL;
    }
    *ret_ring_bytes = __atomic_load_n(&s->ring_bytes, __ATOMIC_RELAXED);
    *ret_ring_count = __atomic_load_n(&s->ring_count, __ATOMIC_RELAXED);
    if (*ret_ring_bytes < 4096 || *ret_ring_bytes & (*ret_ring_bytes - 1) || !*ret_ring_count) {
        ml_sys_unmap(s, sizeof(*s));
        return NULL;
    }
    return s;
}

struct ml_session *ml_session_open(uint32_t *ret_ring_bytes, uint32_t *ret_ring_count)
{
    if (!use_session_dir(getenv(ML_SESSION_ENV)))
        return NULL;
    return open_page(ret_ring_bytes, ret_ring_count, NULL);
}

int ml_session_join(const char *dir, uint32_t *ret_ring_bytes, uint32_t *ret_ring_count,
                    struct ml_session **ret)
{
    bool differs = false;
    struct ml_session *s =
        use_session_dir(dir) ? open_page(ret_ring_bytes, ret_ring_count, &differs) : NULL;

    if (!s)
        return differs ? -EPROTO : -EIO;
    *ret = s;
    return 0;
}

/* Asking for more than RLIMIT_FSIZE would raise SIGXFSZ, which kills. */
static bool file_may_have(size_t bytes)
{
    struct rlimit limit;

    return !getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur >= bytes;
}

static struct ml_ringset *map_set(int fd, const struct ml_set_shape *shape)
{
    size_t bytes = ml_ringset_bytes(shape->ring_bytes, shape->ring_count);
    struct ml_ringset *set;

    if (!file_may_have(bytes) || ftruncate(fd, (off_t)bytes) ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
        return NULL;
    set = ml_sys_map(shape->mapped_bytes, MAP_SHARED | MAP_NORESERVE, fd);
    if (!set)
        return NULL;
    if (!ml_pages_back(set, ml_ringset_data_offset(shape->ring_count))) {
        ml_sys_unmap(set, shape->mapped_bytes);
        return NULL;
    }
    madvise(set, shape->mapped_bytes, MADV_DONTDUMP);
    set->magic = ML_SHARED_MAGIC;
    set->version = ML_SHARED_VERSION;
    set->ring_bytes = shape->ring_bytes;
    set->ring_count = shape->ring_count;
    return set;
}

static void fill_command(char *out, size_t room)
{
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, out, room - 1) : -1;

    if (fd >= 0)
        close(fd);
    for (ssize_t i = 0; i + 1 < n; i++) {
        if (!out[i])
            out[i] = ' ';
    }
    out[n > 0 ? n : 0] = '\0';
}

/* The process that said hello last: this one, or the one that forked it. Stored because a child
 * whose parent has ended meanwhile could not find out. */
static uint32_t known_pid;

/* The number of workers, or of servers, in the job. */
static uint32_t count_of_role(const char *role)
{
    if (!strcmp(role, "scheduler"))
        return 1;
    return ml_env_number(!strcmp(role, "server") ? "DMLC_NUM_SERVER" : "DMLC_NUM_WORKER", 0);
}

static void fill_hello(struct ml_hello *h, uint32_t how, uint32_t set)
{
    const char *role = getenv("DMLC_ROLE");

    memset(h, 0, sizeof(*h));
    h->magic = ML_SHARED_MAGIC;
    h->version = ML_SHARED_VERSION;
    h->pid = (uint32_t)getpid();
    h->parent_pid = how == ML_FORKED ? known_pid : (uint32_t)getppid();
    h->how = how;
    h->set = set;
    h->clock = ml_now();
    h->key = ml_session->key;
    if (role) {
        strncpy(h->role, role, sizeof(h->role) - 1);
        h->role_count = count_of_role(role);
    }
    h->rank = ml_job_place(h->place, sizeof(h->place));
    fill_command(h->command, sizeof(h->command));
}

/* Waits for a place in the collector's queue as long as the collector makes progress. The kernel
 * wakes waiting threads one at a time. */
static bool send_waiting(int fd, const struct msghdr *msg)
{
    struct timeval limit = {.tv_usec = ML_LOOK_NS / 1000};
    struct ml_collector_watch watch = {0};
    int flags = MSG_NOSIGNAL | MSG_DONTWAIT;

    while (sendmsg(fd, msg, flags) < 0) {
        if ((errno != EAGAIN && errno != EINTR) || !ml_collector_alive(&watch))
            return false;
        ml_ring_doorbell();
        if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)))
            return false;
        flags = MSG_NOSIGNAL;
    }
    return true;
}

bool ml_session_send(int socket, struct sockaddr_un *to, const void *body, size_t bytes, int fd)
{
    struct iovec part = {(void *)(uintptr_t)body, bytes};
    alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {0};
    struct msghdr msg = {to, to ? sizeof(*to) : 0, &part, 1, control, sizeof(control), 0};
    struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(c), &fd, sizeof(int));
    return send_waiting(socket, &msg);
}

static bool send_and_close(int socket, struct sockaddr_un *to, const struct ml_hello *hello,
                           int set_fd)
{
    bool sent = socket >= 0 && ml_session_send(socket, to, hello, sizeof(*hello), set_fd);
    int error = errno;

    if (socket >= 0)
        close(socket);
    errno = error;
    return sent;
}

static bool send_set(const struct ml_hello *hello, int set_fd)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    int error;

    if (!ml_session_path(to.sun_path, sizeof(to.sun_path), ML_SESSION_SOCKET))
        return false;
    if (send_and_close(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), &to, hello, set_fd))
        return true;
    error = errno;
    if (is_unreached(error) && send_and_close(ml_session_reach_collector(), NULL, hello, set_fd))
        return true;
    errno = error;
    return false;
}

struct ml_ringset *ml_session_new_set(uint32_t how, uint32_t number,
                                      const struct ml_set_shape *shape, int *ret_unreached)
{
    struct ml_hello hello;
    struct ml_ringset *set = NULL;
    int fd = (int)syscall(SYS_memfd_create, "memledger", 3u /* CLOEXEC | ALLOW_SEALING */);

    *ret_unreached = 0;
    if (fd < 0)
        return NULL;
    set = map_set(fd, shape);
    if (set) {
        fill_hello(&hello, how, number);
        if (send_set(&hello, fd)) {
            known_pid = hello.pid;
        } else {
            *ret_unreached = is_unreached(errno) ? errno : 0;
            ml_sys_unmap(set, shape->mapped_bytes);
            set = NULL;
        }
    }
    close(fd);
    return set;
}
