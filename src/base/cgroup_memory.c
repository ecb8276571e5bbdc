/* cgroup_memory.c: see cgroup_memory.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cgroup_memory.h"

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

struct group {
    char mount[PATH_MAX];
    char *path;     /* below it */
    bool is_second; /* version */
};

/* "0::/group" of version 2, "4:memory:/group" of version 1. @return whether it is about memory */
static bool parse_line(char *line, const char *mounts, struct group *ret)
{
    char *controllers = strchr(line, ':');
    char *path = controllers ? strchr(controllers + 1, ':') : NULL;

    if (!path)
        return false;
    *controllers++ = '\0';
    *path++ = '\0';
    path[strcspn(path, "\n")] = '\0';
    ret->path = path;
    ret->is_second = !*controllers;
    if (!ret->is_second && !has_memory(controllers))
        return false;
    snprintf(ret->mount, sizeof(ret->mount), "%s%s", mounts, ret->is_second ? "" : "/memory");
    return true;
}

typedef void group_visitor(struct group *group, void *context);

static void each_group(const char *groups, const char *mounts, group_visitor *visit, void *context)
{
    FILE *file = fopen(groups, "re");
    char *line = NULL;
    struct group group;
    size_t room = 0;

    if (!file)
        return;
    while (getline(&line, &room, file) > 0)
        if (parse_line(line, mounts, &group))
            visit(&group, context);
    free(line);
    fclose(file);
}

/* ---- Limits ----------------------------------------------------------------- */

static void add_limit(struct group *group, void *context)
{
    uint64_t *least = context;
    const char *file = group->is_second ? "memory.max" : "memory.limit_in_bytes";

    *least = ml_min_u64(*least, least_above(group->mount, group->path, file));
}

uint64_t ml_cgroup_limit_bytes(const char *groups, const char *mounts)
{
    uint64_t least = UINT64_MAX;

    each_group(groups, mounts, add_limit, &least);
    return least;
}

/* ---- Kills ------------------------------------------------------------------- */

/* The number after that word, which begins a line; with NULL the file's only number. */
static uint64_t number_in(FILE *file, const char *word)
{
    uint64_t number = 0;
    char name[64];

    if (!word)
        return fscanf(file, "%" SCNu64, &number) == 1 ? number : 0;
    while (fscanf(file, "%63s %" SCNu64, name, &number) == 2)
        if (!strcmp(name, word))
            return number;
    return 0;
}

/* In a container the path may not exist: then the root of the mount is the group. */
static uint64_t count_of(const struct group *group, const char *file_name, const char *word)
{
    const char *const paths[] = {group->path, ""};
    uint64_t number = 0;

    for (size_t i = 0; i < ML_ARRAY_SIZE(paths); i++) {
        char path[2 * PATH_MAX];
        FILE *file;

        snprintf(path, sizeof(path), "%s%s/%s", group->mount, paths[i], file_name);
        file = fopen(path, "re");
        if (!file)
            continue;
        number = number_in(file, word);
        fclose(file);
        break;
    }
    return number;
}

static void add_kills(struct group *group, void *context)
{
    struct ml_cgroup_kills *sum = context;

    if (group->is_second) {
        sum->kills += count_of(group, "memory.events", "oom_kill");
        sum->at_limit += count_of(group, "memory.events", "oom");
    } else {
        sum->kills += count_of(group, "memory.oom_control", "oom_kill");
        sum->at_limit += count_of(group, "memory.failcnt", NULL);
    }
}

struct ml_cgroup_kills ml_cgroup_kills(const char *groups, const char *mounts)
{
    struct ml_cgroup_kills sum = {0};

    each_group(groups, mounts, add_kills, &sum);
    return sum;
}
