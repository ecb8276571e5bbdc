/* mapped_file.c: see mapped_file.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "mapped_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "own_root.h"
#include "regular_file.h"

#define DELETED " (deleted)"

bool ml_mapping_parse(char *line, struct ml_mapping *ret)
{
    size_t len;

    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64, &ret->begin, &ret->end,
               &ret->offset) != 3)
        return false;
    ret->path = strchr(line, '/');
    ret->deleted = false;
    if (!ret->path)
        return true;
    ret->path[strcspn(ret->path, "\n")] = '\0';
    len = strlen(ret->path);
    if (len > sizeof(DELETED) - 1 && !strcmp(ret->path + len - (sizeof(DELETED) - 1), DELETED)) {
        ret->path[len - (sizeof(DELETED) - 1)] = '\0';
        ret->deleted = true;
    }
    return true;
}

const char *ml_mapped_path_inside(pid_t pid, const char *path)
{
    char link[64], root[PATH_MAX];
    ssize_t n;

    snprintf(link, sizeof(link), "/proc/%d/root", (int)pid);
    n = readlink(link, root, sizeof(root) - 1);
    if (n <= 1)
        return path;
    root[n] = '\0';
    return !strncmp(path, root, (size_t)n) && path[n] == '/' ? path + n : path;
}

/* Without opening it for reading. */
static int find_file(pid_t pid, const struct ml_mapping *m)
{
    char path[96];
    int root, fd;

    snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid, m->begin,
             m->end);
    fd = open(path, O_PATH | O_CLOEXEC);
    if (fd >= 0)
        return fd;
    if (!m->path || m->deleted)
        return -ENOENT;
    root = ml_root_open(pid);
    fd = root >= 0 ? ml_root_open_file(root, ml_mapped_path_inside(pid, m->path), O_PATH) : root;
    if (root >= 0)
        close(root);
    if (fd < 0)
        fd = open(m->path, O_PATH | O_CLOEXEC);
    return fd >= 0 ? fd : -errno;
}

int ml_mapped_file_open(pid_t pid, const struct ml_mapping *m, int how)
{
    return ml_regular_file_open(find_file(pid, m), how);
}

int ml_mapped_file_open_at(pid_t pid, uint64_t address, int how)
{
    char path[64], *line = NULL;
    struct ml_mapping m;
    size_t room = 0;
    int fd = -ENOENT;
    FILE *maps;

    snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
    maps = fopen(path, "re");
    while (maps && getline(&line, &room, maps) > 0) {
        if (!ml_mapping_parse(line, &m) || address < m.begin || address >= m.end)
            continue;
        fd = ml_mapped_file_open(pid, &m, how);
        break;
    }
    free(line);
    if (maps)
        fclose(maps);
    return fd;
}
