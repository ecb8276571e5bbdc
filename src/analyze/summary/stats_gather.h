/* stats_gather.h: the counts that stats.c collects while it reads events. Only the stats include
 * it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_STATS_GATHER_H
#define ML_ANALYZE_STATS_GATHER_H

#include "map.h"
#include "object_rows.h"
#include "replay.h"
#include "stats.h"

struct ml_gather_size {
    uint64_t allocations, allocated_bytes;
    uint64_t freed;
    uint32_t allocation_parts, free_parts; /* see ml_sample_count */
    double life_ns; /* sum; a double, because a trace may contain centuries in total */
};

struct ml_gather_thread {
    uint32_t number;
    bool fresh; /* its last memory event was the allocation below */
    uint32_t fresh_space, fresh_scope;
    uint64_t fresh_addr, fresh_size;
    uint64_t events, allocations, allocated_bytes, frees, temporary;
    uint32_t allocation_parts;
};

struct ml_gather_scope {
    uint32_t number;
    uint64_t allocations, allocated_bytes, temporary;
    uint32_t allocation_parts;
};

struct ml_gather {
    struct ml_replay replay;
    uint64_t events;  /* of the devices and processes that count … */
    uint64_t kept;    /* … without those that repeat what was live when a window began */
    uint64_t from_ns; /* when it began; 0: all is kept */
    uint64_t kinds[32];
    struct ml_gather_size sizes[ML_SIZE_CLASSES];
    ML_VEC(struct ml_gather_thread) threads;
    ML_VEC(struct ml_gather_scope) scopes;
    struct ml_map thread_index, scope_index; /* number -> index */
    uint64_t temporary, temporary_bytes;
    uint64_t longest_life_ns, largest_bytes;
    struct ml_object_book objects;
};

/* The class of a size: 0 for 0, n for sizes of n bits. */
unsigned ml_size_class(uint64_t bytes);

/* Reads the whole trace. Release it in both cases.
 * @caps   which devices and processes count; NULL: all
 * @return 0 or negative errno */
int ml_gather(struct ml_gather *gather, const struct ml_trace *trace,
              const struct ml_level_caps *caps, struct ml_error *err);
void ml_gather_release(struct ml_gather *gather);

#endif
