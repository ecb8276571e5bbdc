/* attach_checks.c: see attach_checks.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "attach_checks.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io.h"
#include "proc_stat.h"
#include "seccomp_state.h"

/* 0: no process traces it. */
static int tracer_of(pid_t pid)
{
    char path[64], line[256];
    int tracer = 0;
    FILE *status;

    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    status = fopen(path, "re");
    while (status && fgets(line, sizeof(line), status))
        if (sscanf(line, "TracerPid: %d", &tracer) == 1)
            break;
    if (status)
        fclose(status);
    return tracer;
}

static int check_program(pid_t pid, struct ml_error *err)
{
    char path[64];
    unsigned char head[EI_NIDENT] = {0};
    ssize_t n;
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return ml_error_set(err, -EINVAL, "process %d is a kernel thread", (int)pid);
    if (fd < 0)
        return ml_error_set(
            err, -errno, "process %d belongs to another user; use sudo memledger attach", (int)pid);
    n = read(fd, head, sizeof(head));
    close(fd);
    if (n != sizeof(head) || head[EI_CLASS] != ELFCLASS64)
        return ml_error_set(err, -ENOEXEC, "process %d is a 32-bit program", (int)pid);
    return 0;
}

/* Whether the process finds the same file under this path. */
static int check_reach(pid_t pid, const char *library, struct ml_error *err)
{
    char path[PATH_MAX + 32];
    struct stat ours, theirs;

    snprintf(path, sizeof(path), "/proc/%d/root%s", (int)pid, library);
    if (!stat(library, &ours) && !stat(path, &theirs) && ours.st_ino == theirs.st_ino &&
        ours.st_dev == theirs.st_dev)
        return 0;
    return ml_error_set(err, -ENOENT,
                        "process %d cannot see %s: it is in a container with files of its own; run "
                        "memledger attach inside that container",
                        (int)pid, library);
}

static int check_sandbox(pid_t pid, struct ml_error *err)
{
    struct ml_seccomp_state ours = {0}, theirs = {0};
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    if (ml_seccomp_read("/proc/self/status", &ours) && ml_seccomp_read(path, &theirs) &&
        ml_seccomp_is_more(&theirs, &ours))
        return ml_error_set(err, -EPERM,
                            "process %d is in a seccomp sandbox, where the recorder's system calls "
                            "could end it",
                            (int)pid);
    return 0;
}

int ml_attach_check(pid_t pid, const char *library, struct ml_error *err)
{
    struct ml_proc_stat stat;
    int tracer, r;

    if (pid == getpid())
        return ml_error_set(err, -EINVAL, "process %d is this command itself", (int)pid);
    if (!ml_proc_stat_read((uint32_t)pid, (uint32_t)pid, &stat))
        return ml_error_set(err, -ESRCH, "there is no process %d", (int)pid);
    if (stat.state == 'Z' || stat.state == 'X')
        return ml_error_set(err, -ESRCH, "process %d has ended", (int)pid);
    if (stat.state == 'T')
        return ml_error_set(err, -EBUSY, "process %d is stopped; kill -CONT %d continues it",
                            (int)pid, (int)pid);
    r = check_program(pid, err);
    tracer = r ? 0 : tracer_of(pid);
    if (tracer)
        return ml_error_set(err, -EBUSY,
                            "process %d is being traced by process %d, a debugger or strace; end "
                            "that first",
                            (int)pid, tracer);
    if (!r)
        r = check_reach(pid, library, err);
    return r ? r : check_sandbox(pid, err);
}
