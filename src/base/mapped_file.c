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
#include <sys/mman.h>
#include <unistd.h>

#include "own_root.h"
#include "regular_file.h"

#define DELETED " (deleted)"

bool ml_mapping_parse(char *line, struct ml_mapping *ret)
{
    size_t len;

    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %x:%x %" SCNu64, &ret->begin,
               &ret->end, &ret->offset, &ret->device[0], &ret->device[1], &ret->inode) != 6)
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

bool ml_mappings_visit(pid_t pid, bool (*visit)(const struct ml_mapping *, void *context),
                       void *context)
{
    char path[64], *line = NULL;
    bool found = false;
    size_t room = 0;
    FILE *maps;

    snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
    maps = fopen(path, "re");
    while (maps && !found && getline(&line, &room, maps) > 0) {
        struct ml_mapping m;
        found = ml_mapping_parse(line, &m) && visit(&m, context);
    }
    free(line);
    if (maps)
        fclose(maps);
    return found;
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

/* The mapping that contains the address. Its path is in `*line`, which the caller frees.
 * @return 0 or negative errno */
static int find_mapping(pid_t pid, uint64_t address, char **line, struct ml_mapping *ret)
{
    char path[64];
    size_t room = 0;
    int r = -ENOENT;
    FILE *maps;

    snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
    maps = fopen(path, "re");
    while (maps && r && getline(line, &room, maps) > 0) {
        if (ml_mapping_parse(*line, ret) && address >= ret->begin && address < ret->end)
            r = 0;
    }
    if (maps)
        fclose(maps);
    return r;
}

/* ---- By the path ------------------------------------------------------------- */

/* Maps it here, too: overlayfs and btrfs tell another device and inode to fstat than to maps. */
static bool is_file_of(int fd, const struct ml_mapping *m)
{
    void *page = mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fd, 0);
    struct ml_mapping own;
    char *line = NULL;
    bool same = page != MAP_FAILED && !find_mapping(getpid(), (uintptr_t)page, &line, &own) &&
                own.inode == m->inode && own.device[0] == m->device[0] &&
                own.device[1] == m->device[1];

    if (page != MAP_FAILED)
        munmap(page, 1);
    free(line);
    return same;
}

/* @found  is closed; negative: it was not found */
static int open_if_file_of(int found, const struct ml_mapping *m, int how)
{
    int fd = ml_regular_file_open(found, how);

    if (fd < 0 || is_file_of(fd, m))
        return fd;
    close(fd);
    return -ESTALE;
}

static int open_in_root(pid_t pid, const struct ml_mapping *m, int how)
{
    int root = ml_root_open(pid), found;

    if (root < 0)
        return root;
    found = ml_root_open_file(root, ml_mapped_path_inside(pid, m->path), O_PATH);
    close(root);
    return open_if_file_of(found, m, how);
}

static int open_here(const struct ml_mapping *m, int how)
{
    int found = open(m->path, O_PATH | O_CLOEXEC);

    return open_if_file_of(found < 0 ? -errno : found, m, how);
}

int ml_mapped_file_open(pid_t pid, const struct ml_mapping *m, int how)
{
    char path[96];
    int fd, here;

    snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid, m->begin,
             m->end);
    fd = open(path, O_PATH | O_CLOEXEC);
    if (fd >= 0)
        return ml_regular_file_open(fd, how);
    if (!m->path || m->deleted)
        return -ENOENT;
    fd = open_in_root(pid, m, how);
    here = fd < 0 ? open_here(m, how) : -1;
    return here >= 0 ? here : fd;
}

int ml_mapped_file_open_at(pid_t pid, uint64_t address, int how)
{
    struct ml_mapping m;
    char *line = NULL;
    int r = find_mapping(pid, address, &line, &m);

    if (!r)
        r = ml_mapped_file_open(pid, &m, how);
    free(line);
    return r;
}
