/* peer_memory.c: see peer_memory.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "peer_memory.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#include "mapped_file.h"

/* The memory after a library's file, which is zero at the start, belongs to the library. */
static bool continues(const ml_peer_maps *maps, const struct ml_peer_map *map)
{
    const struct ml_peer_map *before = maps->len ? &maps->items[maps->len - 1] : NULL;

    return before && before->recorder && before->end == map->begin && map->anonymous;
}

/* @return whether there is no memory for it */
static bool add(const struct ml_mapping *m, void *context)
{
    ml_peer_maps *maps = context;
    struct ml_peer_map map = {
        .begin = m->begin,
        .end = m->end,
        .writable = m->mode[0] == 'r' && m->mode[1] == 'w',
        .reserved = m->mode[0] == '-' && m->mode[1] == '-',
        .shared = m->mode[3] == 's',
        .heap = strncmp(m->name, "[heap]", 6) == 0,
        .anonymous = !m->name[0],
    };

    map.recorder = strstr(m->name, "/libmemledger") || continues(maps, &map);
    return ml_vec_push(maps, map) < 0;
}

int ml_peer_maps_read(pid_t pid, ml_peer_maps *ret)
{
    int r = ml_mappings_visit(pid, add, ret);

    if (r < 0)
        return r;
    if (r > 0)
        return -ENOMEM;
    return ret->len == 0 ? -ESRCH : 0;
}

size_t ml_peer_read(pid_t pid, uint64_t from, void *to, size_t bytes)
{
    struct iovec here = {.iov_base = to, .iov_len = bytes};
    struct iovec there = {.iov_base = (void *)(uintptr_t)from, .iov_len = bytes};
    ssize_t n = process_vm_readv(pid, &here, 1, &there, 1, 0);

    return n > 0 ? (size_t)n : 0;
}
