/* own_root.c: see own_root.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "own_root.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* From <linux/openat2.h>; older headers lack it. */
#ifndef SYS_openat2
#define SYS_openat2 437
#endif
struct open_as {
    uint64_t flags, mode, resolve;
};
#define RESOLVE_NO_MAGICLINKS 2
#define RESOLVE_IN_ROOT 16

static bool is_same_file(const char *one, const char *another)
{
    struct stat a, b;

    return !stat(one, &a) && !stat(another, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

bool ml_root_is_own(pid_t pid)
{
    char root[64], mounts[64];

    snprintf(root, sizeof(root), "/proc/%d/root/.", (int)pid);
    snprintf(mounts, sizeof(mounts), "/proc/%d/ns/mnt", (int)pid);
    return !is_same_file(root, "/.") || !is_same_file(mounts, "/proc/self/ns/mnt");
}

int ml_root_open(pid_t pid)
{
    char path[64];
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
    fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return fd >= 0 ? fd : -errno;
}

int ml_mount_of(int fd)
{
    char path[64], line[128];
    int mount = -1;
    FILE *info;

    snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
    info = fopen(path, "re");
    while (info && fgets(line, sizeof(line), info))
        sscanf(line, "mnt_id: %d", &mount);
    if (info)
        fclose(info);
    return mount;
}

/* Whether a path leads to the same file from there as in this process. */
static bool is_this_root(int root)
{
    int own = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct stat a, b;
    bool same = own >= 0 && !fstat(root, &a) && !fstat(own, &b) && a.st_dev == b.st_dev &&
                a.st_ino == b.st_ino && ml_mount_of(root) >= 0 &&
                ml_mount_of(root) == ml_mount_of(own);

    if (own >= 0)
        close(own);
    return same;
}

int ml_root_open_file(int root, const char *path, int how)
{
    struct open_as as = {.flags = (uint64_t)(unsigned)(how | O_CLOEXEC),
                         .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
    int fd = (int)syscall(SYS_openat2, root, path, &as, sizeof(as));

    if (fd >= 0 || (errno != ENOSYS && errno != EPERM))
        return fd >= 0 ? fd : -errno;
    /* Before Linux 5.6, or filtered: a link could lead out of another root. */
    if (!is_this_root(root))
        return -ENOSYS;
    fd = openat(root, path + strspn(path, "/"), how | O_CLOEXEC);
    return fd >= 0 ? fd : -errno;
}
