/* peer_memory.c: see peer_memory.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "peer_memory.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "mapped_file.h"

#define MAX_SEGMENTS 32

struct reader {
    pid_t pid;
    uint64_t recorder_end; /* of the recorder's library that was read last */
    ml_peer_maps *maps;
};

/* @begin  where the begin of an ELF file is mapped
 * @return where its last segment ends, with the memory that is zero at the start; 0: unknown */
static uint64_t end_of_library(pid_t pid, uint64_t begin)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), end = 0;
    Elf64_Phdr segments[MAX_SEGMENTS];
    Elf64_Ehdr head;
    size_t bytes;

    if (ml_peer_read(pid, begin, &head, sizeof(head)) < sizeof(head) ||
        memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_phentsize != sizeof(*segments) ||
        head.e_phnum > MAX_SEGMENTS)
        return 0;
    bytes = head.e_phnum * sizeof(*segments);
    if (ml_peer_read(pid, begin + head.e_phoff, segments, bytes) < bytes)
        return 0;
    for (size_t i = 0; i < head.e_phnum; i++) {
        if (segments[i].p_type == PT_LOAD)
            end = segments[i].p_vaddr + segments[i].p_memsz;
    }
    return begin + (end + page - 1) / page * page;
}

/* The kernel joins the memory of the recorder's variables, after the library's file, with a
 * mapping of the program that happens to follow. @return whether there is no memory */
static bool add_after_recorder(const struct reader *r, struct ml_peer_map map)
{
    struct ml_peer_map first = map;

    first.end = r->recorder_end;
    first.recorder = true;
    map.begin = r->recorder_end;
    return ml_vec_push(r->maps, first) < 0 || ml_vec_push(r->maps, map) < 0;
}

/* @return whether there is no memory for it */
static bool add(const struct ml_mapping *m, void *context)
{
    struct reader *r = context;
    struct ml_peer_map map = {
        .begin = m->begin,
        .end = m->end,
        .writable = m->mode[0] == 'r' && m->mode[1] == 'w',
        .reserved = m->mode[0] == '-' && m->mode[1] == '-',
        .shared = m->mode[3] == 's',
        .heap = strncmp(m->name, "[heap]", 6) == 0,
        .anonymous = !m->name[0],
    };

    if (strstr(m->name, "/libmemledger")) {
        map.recorder = true;
        if (m->offset == 0)
            r->recorder_end = end_of_library(r->pid, m->begin);
    } else if (map.anonymous && map.begin < r->recorder_end) {
        if (map.end > r->recorder_end)
            return add_after_recorder(r, map);
        map.recorder = true;
    }
    return ml_vec_push(r->maps, map) < 0;
}

int ml_peer_maps_read(pid_t pid, ml_peer_maps *ret)
{
    struct reader reader = {.pid = pid, .maps = ret};
    int r = ml_mappings_visit(pid, add, &reader);

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
