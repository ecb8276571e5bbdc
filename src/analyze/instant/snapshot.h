/* snapshot.h: the live table at one instant, of one device or of all, and what a
 * report on it begins with.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_SNAPSHOT_H
#define ML_ANALYZE_SNAPSHOT_H

#include "arena.h"
#include "instant.h"
#include "replay.h"

#define ML_NOWHERE INT64_MAX /* the index of a device where nothing is */

struct ml_snapshot_opts {
    struct ml_at at;
    const char *device;               /* "cuda:0", "0" for it, "cpu"; NULL: all */
    const struct ml_level_caps *caps; /* NULL: none */
};

struct ml_snapshot {
    struct ml_arena arena; /* all strings of the report */
    const char *command;   /* NULL: not recorded */
    const char *host;
    uint64_t start_wall_ns;
    struct ml_instant instant;
    const char *device;     /* NULL: all */
    int64_t device_index;   /* -1: all; ML_NOWHERE: one where nothing is */
    uint64_t bytes, blocks; /* live then, in counted spaces */
};

/* Reads the trace once to find the instant, once for categories where it has modules
 * or phases, and once up to the instant.
 * @ret_replay  frozen there; to be released, after a failure too, as is `ret`
 * @return 0 or negative errno, see ml_instant_find */
int ml_snapshot(const struct ml_trace *trace, const struct ml_snapshot_opts *opts,
                struct ml_snapshot *ret, struct ml_replay *ret_replay, struct ml_error *err);

/* What a report on the whole of a run needs of it: what was run, when and where.
 * @ret    to be released */
void ml_snapshot_begin(const struct ml_trace *trace, struct ml_snapshot *ret);

/* From all devices to one, by its whole name. Of one where nothing was recorded nothing is
 * left.
 * @return 0 or -ENOMEM */
int ml_snapshot_narrow(struct ml_snapshot *snapshot, const struct ml_replay *replay,
                       const char *device);
void ml_snapshot_release(struct ml_snapshot *snapshot);

/* Visits the blocks: start with *cursor 0. @return NULL at the end */
const struct ml_block *ml_snapshot_next(const struct ml_snapshot *snapshot,
                                        const struct ml_replay *replay, size_t *cursor);

/* The share of all bytes then, in percent. */
double ml_snapshot_percent(const struct ml_snapshot *snapshot, uint64_t bytes);

#endif
