/* attach_checks.c: see attach_checks.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "attach_checks.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "mapped_file.h"
#include "proc_stat.h"
#include "process_threads.h"

#define KERNEL_THREAD 0x200000 /* of the flags in /proc/PID/stat */

/* A process that is ending has no program any more, as a kernel thread has none. */
static bool is_kernel_thread(pid_t pid)
{
    char path[64], line[512] = "";
    unsigned flags = 0;
    const char *end;
    FILE *stat;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    stat = fopen(path, "re");
    if (stat && !fgets(line, sizeof(line), stat))
        line[0] = '\0';
    if (stat)
        fclose(stat);
    end = strrchr(line, ')'); /* of the name */
    return end && sscanf(end + 1, " %*c %*d %*d %*d %*d %*d %u", &flags) == 1 &&
           flags & KERNEL_THREAD;
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
        return is_kernel_thread(pid)
                   ? ml_error_set(err, -EINVAL, "process %d is a kernel thread, not a program",
                                  (int)pid)
                   : ml_error_set(err, -ESRCH, "process %d has ended", (int)pid);
    if (fd < 0)
        return ml_error_set(err, -errno,
                            geteuid() == 0
                                ? "not allowed to inspect process %d: this container has fewer "
                                  "rights than the process; try outside of it"
                                : "process %d belongs to another user, or forbids others to "
                                  "inspect it; use sudo memledger attach %d",
                            (int)pid, (int)pid);
    n = read(fd, head, sizeof(head));
    close(fd);
    if (n != sizeof(head) || head[EI_CLASS] != ELFCLASS64)
        return ml_error_set(err, -ENOEXEC,
                            "process %d is a 32-bit program, which memledger cannot record",
                            (int)pid);
    return 0;
}

static bool is_python(const struct ml_mapping *m, void *context)
{
    (void)context;
    return m->path && strstr(m->path, "python");
}

bool ml_target_has_python(pid_t pid)
{
    return ml_mappings_visit(pid, is_python, NULL) > 0;
}

int ml_attach_check(pid_t pid, struct ml_error *err)
{
    struct ml_proc_stat stat;
    int tracer, r;

    if (pid == getpid())
        return ml_error_set(err, -EINVAL,
                            "process %d is this command itself, which has replaced the shell that "
                            "started it; name the process of another program",
                            (int)pid);
    if (!ml_proc_stat_read((uint32_t)pid, (uint32_t)pid, &stat))
        return ml_error_set(err, -ESRCH, "there is no process %d", (int)pid);
    if (stat.state == 'Z' || stat.state == 'X')
        return ml_error_set(err, -ESRCH, "process %d has ended", (int)pid);
    if (stat.state == 'T')
        return ml_error_set(err, -EBUSY, "process %d is stopped; kill -CONT %d continues it",
                            (int)pid, (int)pid);
    r = check_program(pid, err);
    tracer = r ? 0 : ml_thread_tracer(pid);
    if (tracer)
        return ml_error_set(err, -EBUSY,
                            "process %d is being traced by process %d, a debugger or strace; end "
                            "that first",
                            (int)pid, tracer);
    return r;
}

/* While the kernel frees the memory of a process, it has no program any more. */
static bool is_ending(pid_t pid)
{
    char path[64], none;

    snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
    return readlink(path, &none, sizeof(none)) < 0 && errno == ENOENT;
}

bool ml_attach_has_ended(pid_t pid)
{
    struct pollfd end = {.events = POLLIN};
    bool ended;

    end.fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (end.fd < 0)
        return errno == ESRCH;
    ended = poll(&end, 1, 0) > 0;
    close(end.fd);
    return ended || is_ending(pid);
}

bool ml_attach_is_ancestor(pid_t pid)
{
    struct ml_proc_stat stat = {.parent = (uint32_t)getppid()};

    while (stat.parent > 1 && stat.parent != (uint32_t)pid)
        if (!ml_proc_stat_read(stat.parent, stat.parent, &stat))
            return false;
    return stat.parent == (uint32_t)pid;
}

void ml_attach_explain_wait(pid_t pid, struct ml_error *err)
{
    if (err->code == -EAGAIN && ml_attach_is_ancestor(pid))
        ml_error_set(err, -EAGAIN,
                     "process %d waits for this command, which it has started, in a function of "
                     "libc that cannot be interrupted safely, such as system(); run memledger "
                     "attach %d in another terminal, or let the program start it in the background",
                     (int)pid, (int)pid);
}

int ml_attach_check_proc(pid_t pid, struct ml_error *err)
{
    char path[64];
    struct statfs fs;

    snprintf(path, sizeof(path), "/proc/%d/root/proc", (int)pid);
    if ((!statfs(path, &fs) && fs.f_type == PROC_SUPER_MAGIC) || ml_attach_has_ended(pid))
        return 0;
    return ml_error_set(err, -ENOENT,
                        "process %d sees no /proc, so its blocks are not recorded; mount it in the "
                        "root of the process (mount -t proc proc ROOT/proc) and attach again",
                        (int)pid);
}
