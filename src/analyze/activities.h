/* activities.h: what a program's operators, tasks, frames and events took, and the
 * values of its counters, by category and name as in MXNet's profiler: `operator`, the
 * domain, `domain,frame`, `event`.
 *
 * A duration counts when its end is in the trace; its time has that of those inside it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_ACTIVITIES_H
#define ML_ANALYZE_ACTIVITIES_H

#include "arena.h"
#include "intern.h"
#include "map.h"
#include "trace.h"
#include "vec.h"

/* Times in nanoseconds, or a counter's values. */
struct ml_activity {
    const char *category, *name;
    bool is_counter;
    uint64_t count;
    int64_t total; /* a counter's last value */
    int64_t min, max;
    double sum, average;
};

struct ml_open_activity {
    uint32_t thread, scope;
    uint64_t start_ns;
};

/* What is known so far; starts zeroed. */
struct ml_activities {
    struct ml_intern keys;                     /* category and name; the number is the index */
    ML_VEC(struct ml_activity) list;           /* names are not filled in before the end */
    size_t total;                              /* how many there were, at the end */
    struct ml_map by_object, by_scope;         /* index + 1; 0: it is none */
    struct ml_map started;                     /* object to time */
    ML_VEC(struct ml_open_activity) operators; /* that threads are in */
};

/* The next event of the trace, of any kind. @return 0 or -ENOMEM */
int ml_activities_feed(struct ml_activities *a, const struct ml_trace *trace,
                       const struct ml_event *event);

/* Fills in names and averages, and sorts: by category, durations before counters, most
 * time first; of each at most `top` stay. The strings are those of `a`. */
void ml_activities_finish(struct ml_activities *a, size_t top);
void ml_activities_release(struct ml_activities *a);

#endif
