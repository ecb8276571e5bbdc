/* session_files.c: see session_files.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "session_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "collector_watch.h"
#include "filtered.h"
#include "outside.h"
#include "recorder.h"
#include "session.h"

#define CONNECT_AGAIN_NS 1000000
#define CONNECT_TRIES 3000 /* other processes can fill the queue of an abstract socket */

static _Atomic uint32_t last_number;

static bool connect_waiting(int fd, const struct sockaddr_un *to, socklen_t bytes)
{
    struct ml_collector_watch watch = {0};

    for (int i = 0; connect(fd, (const struct sockaddr *)to, bytes); i++) {
        if ((errno != EAGAIN && errno != EINTR) || i == CONNECT_TRIES ||
            !ml_collector_alive(&watch))
            return false;
        ml_ring_doorbell();
        syscall(SYS_nanosleep, &(struct timespec){.tv_nsec = CONNECT_AGAIN_NS}, NULL);
    }
    return true;
}

/* An abstract name belongs to the first process that binds it: once the collector is gone, a
 * foreign process may have it. Root's collector makes the session's files for the target's user. */
static bool is_of_session(int fd)
{
    struct ucred peer;
    socklen_t bytes = sizeof(peer);

    return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) &&
           (peer.uid == ml_session_user() || peer.uid == 0);
}

/* Connects by the path if this process can reach it: that works in other network namespaces too.
 * Otherwise by the abstract name, which needs no rights and no root. */
int ml_session_reach_collector(void)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    struct sockaddr_un abstract;
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return -1;
    if (ml_session_path(at.sun_path, sizeof(at.sun_path) - 1, ML_SESSION_FILES)) {
        if (connect_waiting(fd, &at, sizeof(at)))
            return fd;
        if (connect_waiting(fd, &abstract, ml_abstract_address(&abstract, at.sun_path)) &&
            is_of_session(fd))
            return fd;
    }
    close(fd);
    return -1;
}

/* Does not truncate: the collector does that when it has something to write. A pipe without a
 * reader must not block the program, nor a terminal become its controlling terminal. */
static int open_file(const char *path)
{
    return open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600);
}

static int hand_file(const char *path, uint32_t *ret_number)
{
    struct ml_handed_file handed = {ML_SHARED_MAGIC, ML_SHARED_VERSION, 0};
    int collector = ml_session_reach_collector();
    int fd, error = 0;

    if (collector < 0)
        return ENOTCONN;
    fd = open_file(path);
    if (fd < 0)
        error = errno;
    handed.number = 1 + atomic_fetch_add_explicit(&last_number, 1, memory_order_relaxed);
    if (!error && !ml_session_send(collector, NULL, &handed, sizeof(handed), fd))
        error = ENOTCONN;
    if (fd >= 0)
        close(fd);
    close(collector);
    if (!error)
        *ret_number = handed.number;
    return error;
}

int ml_session_hand_file(const char *path, uint32_t *ret_number)
{
    int error;

    if (!ml_calls_begin())
        return EPERM;
    error = hand_file(path, ret_number);
    ml_calls_end();
    return error;
}
