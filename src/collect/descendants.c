/* descendants.c: /proc/PID/task/TID/children.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "descendants.h"

#include <dirent.h>
#include <stdio.h>

#define PATH_ROOM 64

/* Each thread lists the children that it started. */
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
