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

#include "process_threads.h"

#define PATH_ROOM 64

struct parent {
    uint32_t pid;
    void (*visit)(void *ctx, uint32_t child);
    void *ctx;
};

/* Each thread lists the children that it started. */
static bool visit_children(pid_t tid, void *context)
{
    const struct parent *p = context;
    char path[PATH_ROOM];
    unsigned child;
    FILE *list;

    snprintf(path, sizeof(path), "/proc/%u/task/%d/children", p->pid, (int)tid);
    list = fopen(path, "re");
    while (list && fscanf(list, "%u", &child) == 1)
        p->visit(p->ctx, child);
    if (list)
        fclose(list);
    return false;
}

void ml_children_of(uint32_t pid, void (*visit)(void *ctx, uint32_t child), void *ctx)
{
    struct parent p = {pid, visit, ctx};

    ml_threads_visit((pid_t)pid, visit_children, &p);
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
