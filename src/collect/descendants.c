/* descendants.c: /proc/PID/task/TID/children, /proc/PID/environ.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "descendants.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static bool has_variable(uint32_t pid, const char *variable)
{
    char path[PATH_ROOM], *entry = NULL;
    size_t room = 0;
    bool found = false;
    FILE *environ_file;

    snprintf(path, sizeof(path), "/proc/%u/environ", pid);
    environ_file = fopen(path, "re");
    while (environ_file && !found && getdelim(&entry, &room, '\0', environ_file) > 0)
        found = !strcmp(entry, variable);
    free(entry);
    if (environ_file)
        fclose(environ_file);
    return found;
}

void ml_processes_with(const char *variable, void (*visit)(void *ctx, uint32_t pid), void *ctx)
{
    struct dirent *entry;
    DIR *processes = opendir("/proc");

    while (processes && (entry = readdir(processes))) {
        uint32_t pid = (uint32_t)strtoul(entry->d_name, NULL, 10);

        if (pid && has_variable(pid, variable))
            visit(ctx, pid);
    }
    if (processes)
        closedir(processes);
}
