/* peer_memory.c: see peer_memory.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "peer_memory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

/* The memory after a library's file, which is zero at the start, belongs to the library. */
static bool continues(const ml_peer_maps *maps, const struct ml_peer_map *map)
{
    const struct ml_peer_map *before = maps->len ? &maps->items[maps->len - 1] : NULL;

    return before && before->recorder && before->end == map->begin && map->anonymous;
}

static int add_line(ml_peer_maps *maps, const char *line)
{
    struct ml_peer_map map = {0};
    char mode[5];
    int path = 0;

    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %*s %*s %*s %n", &map.begin, &map.end, mode,
               &path) != 3 ||
        path == 0)
        return -EBADMSG;
    map.writable = mode[0] == 'r' && mode[1] == 'w';
    map.reserved = mode[0] == '-' && mode[1] == '-';
    map.shared = mode[3] == 's';
    map.heap = strncmp(line + path, "[heap]", 6) == 0;
    map.anonymous = line[path] == '\0' || line[path] == '\n';
    map.recorder = strstr(line + path, "/libmemledger") || continues(maps, &map);
    return ml_vec_push(maps, map);
}

int ml_peer_maps_read(pid_t pid, ml_peer_maps *ret)
{
    char path[64], *line = NULL;
    size_t room = 0;
    FILE *f;
    int r = 0;

    snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
    f = fopen(path, "re");
    if (!f)
        return -errno;
    while (r == 0 && getline(&line, &room, f) > 0)
        r = add_line(ret, line);
    free(line);
    fclose(f);
    return r == 0 && ret->len == 0 ? -ESRCH : r;
}

size_t ml_peer_read(pid_t pid, uint64_t from, void *to, size_t bytes)
{
    struct iovec here = {.iov_base = to, .iov_len = bytes};
    struct iovec there = {.iov_base = (void *)(uintptr_t)from, .iov_len = bytes};
    ssize_t n = process_vm_readv(pid, &here, 1, &there, 1, 0);

    return n > 0 ? (size_t)n : 0;
}
