/* profile_parts.h: the parts of a profile, only for the files that implement
 * profile.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_PROFILE_PARTS_H
#define ML_PROFILE_PARTS_H

#include "config_keys.h"
#include "map.h"
#include "profile.h"
#include "profile_file.h"
#include "profile_memory.h"
#include "profile_tracks.h"

/* Memory records per second, and the largest burst after a quiet time. */
#define ML_ALLOWANCE_PER_S 10000
#define ML_ALLOWANCE_MAX 100000

/* An operator scope that a thread is in. */
struct ml_open_operator {
    uint32_t thread;
    uint32_t scope;
    uint64_t start_ns;
};

/* A point on a counter's curve. */
struct ml_memory_point {
    uint64_t time_ns;
    uint64_t bytes;
    uint32_t tid;
};

/* How a book of profile_memory.h is shown. */
struct ml_memory_counter {
    int64_t track; /* negative: memory ran out */
    /* The last change, and the largest value since the last record, while
     * changes come too fast to write each. */
    bool waiting;
    struct ml_memory_point last, peak;
};

struct ml_profile {
    const struct ml_dict *dict;
    char *filename; /* as it was set */
    uint64_t start_wall_ns;

    bool on[ML_CONFIG_KEYS]; /* the boolean settings */
    uint64_t period_ns;

    bool ran; /* was ever set to run */
    bool running;
    bool paused;
    bool output; /* records go to the file: from a run to the dump that ends it */
    uint64_t dumped_ns;

    struct ml_profile_file file;
    struct ml_profile_tracks tracks;
    struct ml_profile_memory memory;
    ML_VEC(struct ml_memory_counter) counters; /* by book */
    uint64_t allowance;                        /* memory records that may be written now */
    uint64_t allowance_ns;                     /* when that was last raised */

    struct ml_map object_tracks; /* object number to track */
    struct ml_map scope_tracks;  /* operator scope to track */
    struct ml_map started;       /* object number to time of start */
    ML_VEC(struct ml_open_operator) operators;
};

/* Whether tasks, counters and so on count: running and not paused. */
static inline bool ml_profile_recorded(const struct ml_profile *p)
{
    return p->running && !p->paused;
}

uint32_t ml_profile_tid(const struct ml_profile *p, uint32_t thread);

/* Adds to the statistics, if they are on. */
void ml_profile_count(struct ml_profile *p, int64_t track, int64_t value);

/* Writes a record with everything that follows from the track. The category's process gets
 * its name in the file first. */
struct ml_profile_record ml_profile_record_on(struct ml_profile *p, int64_t track, uint64_t time_ns,
                                              uint32_t tid);

/* A begin at the record's time and an end at `end_ns`. */
void ml_profile_put_pair(struct ml_profile *p, struct ml_profile_record r, const char phases[2],
                         uint64_t end_ns);
void ml_profile_put_value(struct ml_profile *p, int64_t track, uint64_t time_ns, uint32_t tid,
                          int64_t value);

/* Counts and shows an allocation, free or move. */
void ml_profile_memory_changed(struct ml_profile *p, const struct ml_event *ev);

/* Writes the waiting memory points. */
void ml_profile_settle(struct ml_profile *p);

/* Forgets unfinished scopes and tasks when a profile starts again. */
void ml_profile_forget(struct ml_profile *p);

#endif
