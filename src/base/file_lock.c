/* file_lock.c: see file_lock.h.
 *
 * A forked process keeps a flock, but flock does not report its holder. A record lock does, but
 * a forked process does not keep it. So the writing process takes both.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "file_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "command_line.h"

/* The previous holder may have removed the file. */
int ml_file_lock(int fd, const char *path)
{
    struct stat opened, named;
    int r = flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK ? -EBUSY : 0;

    if (!r && (fstat(fd, &opened) || stat(path, &named) || opened.st_dev != named.st_dev ||
               opened.st_ino != named.st_ino))
        r = -EAGAIN;
    return r;
}

void ml_file_lock_sign(int fd)
{
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

    (void)fcntl(fd, F_SETLK, &all);
}

static bool find_signature(int fd, struct flock *ret)
{
    *ret = (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(fd, F_GETLK, ret) == 0 && ret->l_type != F_UNLCK;
}

bool ml_file_lock_is_signed(int fd)
{
    struct flock all;

    return find_signature(fd, &all);
}

pid_t ml_file_lock_signer(int fd)
{
    struct flock all;

    return find_signature(fd, &all) && all.l_pid > 0 ? all.l_pid : 0;
}

/* The collector of `memledger attach` has a command line that its user has never typed. */
static void name_attach(char *command, size_t room)
{
    const char *target = strstr(command, " collect ") ? strstr(command, " --pid=") : NULL;
    unsigned pid;

    if (target && sscanf(target, " --pid=%u", &pid) == 1)
        snprintf(command, room, "memledger attach %u", pid);
}

static int busy(const char *path, pid_t pid, struct ml_error *err)
{
    char command[200] = "";

    if (!pid)
        return ml_error_set(err, -EBUSY,
                            "%s is being written by another process; choose another name with -o",
                            path);
    ml_command_line_of((uint32_t)pid, command, sizeof(command));
    name_attach(command, sizeof(command));
    return ml_error_set(err, -EBUSY,
                        "%s is being written by process %d%s%s%s; choose another name with -o",
                        path, (int)pid, *command ? " (" : "", command, *command ? ")" : "");
}

int ml_file_lock_busy(const char *path, int fd, struct ml_error *err)
{
    return busy(path, ml_file_lock_signer(fd), err);
}

int ml_file_lock_check(const char *path, struct ml_error *err)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    pid_t pid = fd < 0 ? 0 : ml_file_lock_signer(fd);

    if (fd >= 0)
        close(fd);
    return pid ? busy(path, pid, err) : 0;
}
