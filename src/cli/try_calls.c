/* try_calls.c: see try_calls.h. The calls are those of src/capture/filter_verdict.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "try_calls.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define BYTES 4096

static void try_memory(void)
{
    unsigned char in_core;
    int fd = (int)syscall(SYS_memfd_create, "memledger", 3u /* CLOEXEC | ALLOW_SEALING */);
    void *at;

    if (fd >= 0) {
        syscall(SYS_ftruncate, fd, (long)BYTES);
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK);
        close(fd);
    }
    at = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
              0);
    if (at == MAP_FAILED)
        return;
    madvise(at, BYTES, MADV_DONTDUMP);
    syscall(SYS_mincore, at, (long)BYTES, &in_core);
    mprotect(at, BYTES, PROT_READ);
    munmap(at, BYTES);
}

static void try_threads(void)
{
    long tid = syscall(SYS_gettid);
    uint32_t nobody_waits = 0;
    uint64_t signals = 0;
    char name[16];

    syscall(SYS_rt_sigprocmask, (long)SIG_BLOCK, &signals, &signals, sizeof(signals));
    syscall(SYS_futex, &nobody_waits, FUTEX_WAKE, 1L, NULL, NULL, 0L);
    syscall(SYS_nanosleep, &(struct timespec){.tv_nsec = 1}, NULL);
    syscall(SYS_tgkill, (long)getpid(), tid, 0L);
    syscall(SYS_kill, (long)getpid(), 0L);
    syscall(SYS_prctl, (long)PR_GET_NAME, name, 0L, 0L, 0L);
}

/* The sockets lead nowhere, so that each call ends with an error. */
static void try_sockets(void)
{
    struct msghdr nothing = {0};
    struct timeval limit = {.tv_usec = 1};
    struct ucred peer;
    socklen_t bytes = sizeof(peer);
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd >= 0) {
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
        sendmsg(fd, &nothing, MSG_NOSIGNAL | MSG_DONTWAIT);
        sendto(fd, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT, (const struct sockaddr *)&to, sizeof(to));
        close(fd);
    }
    fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0) {
        connect(fd, (const struct sockaddr *)&to, sizeof(to));
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes);
        close(fd);
    }
}

static void try_files(void)
{
    struct rlimit limit;
    struct stat st;
    char path[64];
    int fd =
        (int)syscall(SYS_openat, (long)AT_FDCWD, "/proc/self/status", (long)(O_RDONLY | O_CLOEXEC));
    if (fd >= 0) {
        fstat(fd, &st);
        close(fd);
    }
    syscall(SYS_readlink, "/proc/self/exe", path, sizeof(path));
    syscall(SYS_readlinkat, (long)AT_FDCWD, "/proc/self/ns/pid", path, sizeof(path));
    syscall(SYS_getcwd, path, sizeof(path));
    syscall(SYS_getppid);
    syscall(SYS_geteuid);
    getrlimit(RLIMIT_FSIZE, &limit);
}

void ml_try_recorder_calls(void)
{
    try_memory();
    try_threads();
    try_sockets();
    try_files();
}
