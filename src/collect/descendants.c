/* descendants.c: /proc/PID/task/TID/children and /proc/PID/cmdline.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "descendants.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PATH_ROOM 64

/* Each thread has the children that it started itself. */
static void children_of_thread(uint32_t pid, const char *tid,
                               void (*visit)(void *ctx, uint32_t child), void *ctx)
{
    char path[PATH_ROOM];
    unsigned child;
    FILE *list;

    if (snprintf(path, sizeof(path), "/proc/%u/task/%s/children", pid, tid) >= PATH_ROOM)
        return;
    list = fopen(path, "re");
    while (list && fscanf(list, "%u", &child) == 1)
        visit(ctx, child);
    if (list)
        fclose(list);
}

void ml_children_of(uint32_t pid, void (*visit)(void *ctx, uint32_t child), void *ctx)
{
    char path[PATH_ROOM];
    struct dirent *entry;
    DIR *tasks;

    snprintf(path, sizeof(path), "/proc/%u/task", pid);
    tasks = opendir(path);
    while (tasks && (entry = readdir(tasks)))
        if (entry->d_name[0] != '.')
            children_of_thread(pid, entry->d_name, visit, ctx);
    if (tasks)
        closedir(tasks);
}

void ml_command_line_of(uint32_t pid, char *text, size_t room)
{
    char path[PATH_ROOM];
    ssize_t n;
    int fd;

    snprintf(path, sizeof(path), "/proc/%u/cmdline", pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    n = fd >= 0 ? read(fd, text, room - 1) : -1;
    if (fd >= 0)
        close(fd);
    n = n > 0 ? n : 0;
    while (n && !text[n - 1])
        n--;
    for (ssize_t i = 0; i < n; i++)
        text[i] = text[i] ? text[i] : ' ';
    text[n] = '\0';
}
