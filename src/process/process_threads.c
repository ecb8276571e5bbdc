/* process_threads.c: see process_threads.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "process_threads.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

int ml_threads_visit(pid_t pid, bool (*visit)(pid_t tid, void *context), void *context)
{
    char path[64];
    struct dirent *entry;
    bool found = false;
    DIR *tasks;

    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    tasks = opendir(path);
    if (!tasks)
        return -errno;
    while (!found && (entry = readdir(tasks)))
        found = entry->d_name[0] != '.' && visit(atoi(entry->d_name), context);
    closedir(tasks);
    return found;
}

pid_t ml_thread_tracer(pid_t tid)
{
    char path[64], line[256];
    int tracer = 0;
    FILE *status;

    snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
    status = fopen(path, "re");
    while (status && fgets(line, sizeof(line), status))
        if (sscanf(line, "TracerPid: %d", &tracer) == 1)
            break;
    if (status)
        fclose(status);
    return tracer;
}
