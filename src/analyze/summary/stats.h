/* stats.h: the allocation behaviour of a program: sizes, rates, lifetimes, by thread and scope.
 *
 * Sizes, scopes, temporaries and lifetimes are those of the counted spaces (see
 * replay.h); kinds, threads and spaces cover everything.
 *
 * A temporary allocation is freed by the next memory event of its thread, as heaptrack defines
 * it; a resize counts as a free.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_STATS_H
#define ML_ANALYZE_STATS_H

#include "arena.h"
#include "health.h"
#include "object_rows.h"
#include "summary.h"
#include "trace.h"
#include "vec.h"

#define ML_SIZE_CLASSES 65

struct ml_stats_opts {
    size_t top; /* scopes, threads, live blocks and objects to list */
    struct ml_object_order order;
    const struct ml_level_caps *caps; /* which devices and processes count; NULL: all */
};

/* Allocations of [from_bytes, to_bytes]: powers of two. */
struct ml_stats_size {
    uint64_t from_bytes, to_bytes;
    uint64_t allocations, allocated_bytes;
    double percent; /* of all allocations */
    uint64_t freed; /* blocks whose lifetime is known */
    uint64_t average_life_ns;
};

struct ml_stats_thread {
    uint32_t pid, tid;
    const char *name;
    uint64_t events, allocations, allocated_bytes, frees, temporary;
};

struct ml_stats_space {
    uint32_t pid;
    const char *device, *level, *name;
    bool counted;
    struct ml_figures figures;
};

struct ml_stats_scope {
    const char *path;
    uint64_t allocations, allocated_bytes, temporary;
};

struct ml_stats_block {
    uint64_t address, bytes, time_ns;
    const char *device, *space, *scope, *label, *category;
};

struct ml_stats {
    struct ml_arena arena; /* all strings */
    struct ml_health health;
    uint64_t events, duration_ns, file_bytes, event_bytes;
    double events_per_second, bytes_per_event; /* on disk */
    uint64_t kinds[32];
    uint64_t allocations, allocated_bytes, average_bytes, largest_bytes;
    uint64_t temporary, temporary_bytes;
    double temporary_percent;
    uint64_t freed, average_life_ns, longest_life_ns;
    ML_VEC(struct ml_stats_size) sizes;     /* from the smallest used to the largest */
    ML_VEC(struct ml_stats_thread) threads; /* most events first, at most `top` */
    size_t thread_total;
    ML_VEC(struct ml_stats_space) spaces;   /* most bytes first */
    ML_VEC(struct ml_stats_scope) by_count; /* at most `top` */
    ML_VEC(struct ml_stats_scope) by_bytes;
    size_t scope_total;
    ML_VEC(struct ml_stats_block) largest; /* never freed, largest first, at most `top` */
    ml_object_row_list objects;            /* at most `top` of each category */
};

/* @ret    to be released, after a failure too
 * @return 0 or negative errno */
int ml_measure(const struct ml_trace *trace, const struct ml_stats_opts *opts, struct ml_stats *ret,
               struct ml_error *err);
void ml_stats_release(struct ml_stats *stats);

#endif
