/* running_traces.c: see running_traces.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "running_traces.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "command_line.h"
#include "io.h"
#include "proc_stat.h"

#define LINE_MAX_BYTES 256

static const char trace_magic[] = "\x89MLED\r\n\x1a";

struct held_lock {
    int pid;
    unsigned major, minor;
    unsigned long inode;
};

/* "3: POSIX  ADVISORY  WRITE 4711 fd:01:1234 0 EOF" */
static bool parse_lock(const char *line, struct held_lock *ret)
{
    return sscanf(line, "%*d: POSIX ADVISORY WRITE %d %x:%x:%lu 0 EOF", &ret->pid, &ret->major,
                  &ret->minor, &ret->inode) == 4 &&
           ret->pid > 0;
}

static bool is_trace(const char *path, const struct held_lock *lock)
{
    uint8_t bytes[sizeof(trace_magic) - 1];
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    bool found = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
                 st.st_ino == lock->inode && ml_pread_all(fd, bytes, sizeof(bytes), 0) == 0 &&
                 memcmp(bytes, trace_magic, sizeof(bytes)) == 0;

    if (fd >= 0)
        close(fd);
    return found;
}

/* Other programs lock files, too. */
static bool is_memledger(uint32_t pid)
{
    char name[32];

    ml_command_short_name(pid, name, sizeof(name));
    return strncmp(name, "memledger", 9) == 0;
}

/* A collector whose launcher was killed has been adopted by another process. */
static uint32_t launcher_of(uint32_t collector)
{
    struct ml_proc_stat stat;

    return ml_proc_stat_read(collector, collector, &stat) && is_memledger(stat.parent) ? stat.parent
                                                                                       : 0;
}

static bool add_file(struct ml_running_traces *ret, const char *link, const struct held_lock *lock)
{
    char path[PATH_MAX];
    ssize_t len = readlink(link, path, sizeof(path) - 1);
    struct ml_running_trace trace = {.collector = (uint32_t)lock->pid};

    if (len <= 0)
        return false;
    path[len] = '\0';
    if (!is_trace(path, lock))
        return false;
    for (size_t i = 0; i < ret->list.len; i++)
        if (strcmp(ret->list.items[i].path, path) == 0)
            return true;
    trace.path = ml_arena_dup(&ret->arena, path, (size_t)len);
    trace.launcher = launcher_of(trace.collector);
    return trace.path && ml_vec_push(&ret->list, trace) == 0;
}

static void add_holder(struct ml_running_traces *ret, const struct held_lock *lock)
{
    char folder[64], link[sizeof(folder) + NAME_MAX + 2];
    struct dirent *entry;
    bool found = false;
    DIR *dir;

    snprintf(folder, sizeof(folder), "/proc/%d/fd", lock->pid);
    dir = opendir(folder);
    while (dir && !found && (entry = readdir(dir))) {
        snprintf(link, sizeof(link), "%s/%s", folder, entry->d_name);
        found = entry->d_name[0] != '.' && add_file(ret, link, lock);
    }
    if (dir)
        closedir(dir);
    else if (is_memledger((uint32_t)lock->pid))
        ret->hidden++;
}

void ml_running_read(struct ml_running_traces *ret)
{
    char line[LINE_MAX_BYTES];
    struct held_lock lock;
    FILE *f = fopen("/proc/locks", "re");

    *ret = (struct ml_running_traces){0};
    while (f && fgets(line, sizeof(line), f))
        if (parse_lock(line, &lock))
            add_holder(ret, &lock);
    if (f)
        fclose(f);
}

void ml_running_release(struct ml_running_traces *running)
{
    ml_vec_release(&running->list);
    ml_arena_release(&running->arena);
}
