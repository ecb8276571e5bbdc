/* live_view.h: the state of a followed run at this moment, as a live view, a metrics page and a
 * test show it: devices, processes, steps, and the live blocks in groups. Numbers are those of
 * `table --at end` and `summary` of the same events.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_LIVE_VIEW_H
#define ML_ANALYZE_LIVE_VIEW_H

#include "arena.h"
#include "breakdown.h"
#include "following.h"

#define ML_LIVE_FILTERS 4

/* Only blocks whose key has this name. */
struct ml_live_filter {
    enum ml_key key;
    const char *name;
};

struct ml_live_question {
    enum ml_key by;
    struct ml_live_filter filters[ML_LIVE_FILTERS];
    size_t filter_count;
    size_t top;   /* rows; the others are one row */
    bool no_rows; /* only devices, processes and steps */
};

struct ml_live_row {
    const char *name; /* "" for none */
    uint64_t bytes, blocks;
    double percent;      /* of the bytes of all rows */
    uint64_t peak_bytes; /* the most that was seen since the question was first asked */
    bool has_growth;
    int64_t growth_bytes; /* over the last minute, or since then */
};

struct ml_live_device {
    const char *name;
    uint64_t bytes, peak_bytes, peak_time_ns; /* counted */
    uint64_t levels[ML_LEVELS];               /* live */
    struct ml_seen used, total;               /* of the driver or the system, all processes */
    struct ml_seen ours;                      /* of the recorded processes */
    bool has_unexplained;                     /* GPUs: ours less the driver's blocks */
    int64_t unexplained_bytes;
    int64_t growth_bytes; /* over the last minute, or since the start */
    const struct ml_second_history *history;
};

struct ml_live_process {
    uint32_t number, pid;
    const char *command, *role; /* role NULL: none */
    uint32_t rank;              /* 1 + rank; 0: none */
    bool ended;
    uint64_t bytes, peak_bytes, peak_time_ns;
    int64_t growth_bytes;
};

/* An allocator of a process. */
struct ml_live_space {
    uint32_t pid;
    const char *device, *name;
    uint64_t bytes, peak_bytes;
};

struct ml_live_view {
    struct ml_arena arena;
    const char *command, *host; /* NULL: not recorded */
    uint64_t start_wall_ns;
    uint64_t time_ns;      /* of the run now */
    uint64_t last_ns;      /* of the last event */
    bool being_recorded;   /* else it has ended, or was cut short … */
    bool finished;         /* … this tells */
    bool at_end;           /* it has ended, and its last memory is shown … */
    bool all_freed;        /* … which the program freed before it ended … */
    uint64_t at_end_ns;    /* … as it was then */
    bool paused;           /* see ML_MARK_PAUSE … */
    uint64_t paused_at_ns; /* … since then */
    bool awaits_names;     /* rows have addresses of functions, which get their names at the end */
    uint64_t events, lost, refusals;
    uint64_t allocations, frees;
    double allocations_per_second; /* over the last ten seconds */
    uint64_t bytes, peak_bytes, peak_time_ns, blocks;
    int64_t growth_bytes;
    const struct ml_second_history *history;
    uint64_t steps; /* begun */
    uint64_t step_number, step_begin_ns, step_length_ns, step_peak_bytes;
    bool in_step;
    ML_VEC(struct ml_live_device) devices;    /* as the replay met them */
    ML_VEC(struct ml_live_process) processes; /* most bytes first, then by peak */
    ML_VEC(struct ml_live_space) spaces;      /* as the replay met them */
    size_t ended_processes;                   /* of them */
    uint32_t pid;                             /* the first that still runs; 0: none is known */
    ML_VEC(struct ml_live_row) rows;          /* most bytes first */
    bool no_lines;                            /* asked by line, and no block has one … */
    enum ml_stackless stackless;              /* … because of this */
    struct ml_live_row rest;
    size_t rest_count;
};

/* @ret    to be released, after a failure too; histories belong to `f`, until the next poll
 * @return 0 or -ENOMEM */
int ml_live_view(struct ml_following *f, const struct ml_live_question *question,
                 struct ml_live_view *ret, struct ml_error *err);
void ml_live_view_release(struct ml_live_view *view);

#endif
