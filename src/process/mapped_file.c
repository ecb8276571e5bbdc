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

/* Ends the name in the line. */
static bool parse(char *line, struct ml_mapping *ret)
{
    size_t len, cut = sizeof(DELETED) - 1;
    int name = 0;

    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n", &ret->begin,
               &ret->end, ret->mode, &ret->offset, &ret->device[0], &ret->device[1], &ret->inode,
               &name) != 7 ||
        !name)
        return false;
    line += name;
    len = strcspn(line, "\n");
    ret->deleted = line[0] == '/' && len > cut && !memcmp(line + len - cut, DELETED, cut);
    line[ret->deleted ? len - cut : len] = '\0';
    ret->name = line;
    ret->path = line[0] == '/' ? line : NULL;
    return true;
}

int ml_mappings_visit(pid_t pid, bool (*visit)(const struct ml_mapping *, void *context),
                      void *context)
{
    char path[64], *line = NULL;
    bool found = false;
    size_t room = 0;
    FILE *maps;

    snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
    maps = fopen(path, "re");
    if (!maps)
        return -errno;
    while (!found && getline(&line, &room, maps) > 0) {
        struct ml_mapping m;
        found = parse(line, &m) && visit(&m, context);
    }
    free(line);
    fclose(maps);
    return found;
}

/* ---- By an address ------------------------------------------------------------ */

struct place {
    uint64_t address;
    struct ml_mapping *found;
};

static bool is_around(const struct ml_mapping *m, void *context)
{
    const struct place *p = context;

    if (p->address < m->begin || p->address >= m->end)
        return false;
    *p->found = *m;
    p->found->name = p->found->path = NULL;
    return true;
}

bool ml_mapping_at(pid_t pid, uint64_t address, struct ml_mapping *ret)
{
    struct place p = {address, ret};

    return ml_mappings_visit(pid, is_around, &p) > 0;
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

/* ---- Files ------------------------------------------------------------------- */

/* Maps it here, too: overlayfs and btrfs tell another device and inode to fstat than to maps. */
static bool is_file_of(int fd, const struct ml_mapping *m)
{
    void *page = mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fd, 0);
    struct ml_mapping own;
    bool same = page != MAP_FAILED && ml_mapping_at(getpid(), (uintptr_t)page, &own) &&
                own.inode == m->inode && own.device[0] == m->device[0] &&
                own.device[1] == m->device[1];

    if (page != MAP_FAILED)
        munmap(page, 1);
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

static bool is_for_writing(int how)
{
    return (how & O_ACCMODE) != O_RDONLY;
}

/* The kernel lets a process map a file in this way only if it has opened it for writing. */
static bool is_written(const struct ml_mapping *m)
{
    return m->mode[1] == 'w' && m->mode[3] == 's';
}

int ml_mapped_file_open(pid_t pid, const struct ml_mapping *m, int how)
{
    char path[96];
    int fd, here;

    if (is_for_writing(how) && !is_written(m))
        return -EROFS;
    snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid, m->begin,
             m->end);
    fd = open(path, O_PATH | O_CLOEXEC);
    if (fd >= 0 && is_for_writing(how)) /* it may have another file there by now */
        return open_if_file_of(fd, m, how);
    if (fd >= 0)
        return ml_regular_file_open(fd, how);
    if (!m->path || m->deleted)
        return -ENOENT;
    fd = open_in_root(pid, m, how);
    here = fd < 0 ? open_here(m, how) : -1;
    return here >= 0 ? here : fd;
}

struct opening {
    pid_t pid;
    uint64_t address;
    int how, result;
};

static bool opens_around(const struct ml_mapping *m, void *context)
{
    struct opening *o = context;

    if (o->address < m->begin || o->address >= m->end)
        return false;
    o->result = ml_mapped_file_open(o->pid, m, o->how);
    return true;
}

int ml_mapped_file_open_at(pid_t pid, uint64_t address, int how)
{
    struct opening o = {pid, address, how, -ENOENT};

    ml_mappings_visit(pid, opens_around, &o);
    return o.result;
}
