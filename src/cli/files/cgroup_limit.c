/* cgroup_limit.c: see cgroup_limit.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cgroup_limit.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler.h"

/* "max" means none; version 1 has a number that is larger than any memory. */
static uint64_t limit_in(const char *path)
{
    FILE *file = fopen(path, "re");
    uint64_t bytes = UINT64_MAX;

    if (!file)
        return UINT64_MAX;
    if (fscanf(file, "%" SCNu64, &bytes) != 1)
        bytes = UINT64_MAX;
    fclose(file);
    return bytes;
}

/* The limit of that group and all groups around it. In a container the root of the mount may be its
 * own group, and the path may not exist: then only the root counts. */
static uint64_t least_above(const char *mount, char *group, const char *file)
{
    uint64_t least = UINT64_MAX;
    char path[PATH_MAX];

    for (;;) {
        char *last = strrchr(group, '/');
        snprintf(path, sizeof(path), "%s%s/%s", mount, group, file);
        least = ml_min_u64(least, limit_in(path));
        if (!last)
            return least;
        *last = '\0';
    }
}

static bool has_memory(char *controllers)
{
    char *rest = NULL;

    for (char *one = strtok_r(controllers, ",", &rest); one; one = strtok_r(NULL, ",", &rest)) {
        if (!strcmp(one, "memory"))
            return true;
    }
    return false;
}

/* "0::/group" of version 2, "4:memory:/group" of version 1. */
static uint64_t limit_of_line(char *line, const char *mounts)
{
    char *controllers = strchr(line, ':');
    char *group = controllers ? strchr(controllers + 1, ':') : NULL;
    char mount[PATH_MAX];

    if (!group)
        return UINT64_MAX;
    *controllers++ = '\0';
    *group++ = '\0';
    group[strcspn(group, "\n")] = '\0';
    if (!*controllers)
        return least_above(mounts, group, "memory.max");
    if (!has_memory(controllers))
        return UINT64_MAX;
    snprintf(mount, sizeof(mount), "%s/memory", mounts);
    return least_above(mount, group, "memory.limit_in_bytes");
}

uint64_t ml_cgroup_limit_bytes(const char *groups, const char *mounts)
{
    FILE *file = fopen(groups, "re");
    uint64_t least = UINT64_MAX;
    char *line = NULL;
    size_t room = 0;

    if (!file)
        return UINT64_MAX;
    while (getline(&line, &room, file) > 0)
        least = ml_min_u64(least, limit_of_line(line, mounts));
    free(line);
    fclose(file);
    return least;
}
