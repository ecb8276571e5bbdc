/* peer_memory.h: the memory of another process, read by the kernel: what cannot be read is left
 * out, never a fault.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REACH_PEER_MEMORY_H
#define ML_REACH_PEER_MEMORY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "vec.h"

/* A mapping, as in /proc/PID/maps. */
struct ml_peer_map {
    uint64_t begin, end;
    bool writable;  /* and readable */
    bool reserved;  /* neither readable nor writable */
    bool shared;    /* with other processes */
    bool anonymous; /* no file, and no name such as [heap] */
    bool heap;      /* [heap], which grows with brk */
    bool recorder;  /* data of a library of memledger */
};

typedef ML_VEC(struct ml_peer_map) ml_peer_maps;

/* The mappings, by address. @return 0 or negative errno */
int ml_peer_maps_read(pid_t pid, ml_peer_maps *ret);

/* Copies memory. @return the bytes that could be read from the start on, 0 if none */
size_t ml_peer_read(pid_t pid, uint64_t from, void *to, size_t bytes);

#endif
