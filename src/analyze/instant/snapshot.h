/* snapshot.h: the live table at one instant, for one device or for all, and the facts for the
 * head of a report on it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_SNAPSHOT_H
#define ML_ANALYZE_SNAPSHOT_H

#include "arena.h"
#include "instant.h"
#include "replay.h"

#define ML_NOWHERE INT64_MAX /* the index of a device without memory */

struct ml_snapshot_opts {
    struct ml_at at;
    const char *device; /* "cuda:0", "0" for short, "cpu"; NULL: all */
    uint32_t pid;       /* only blocks of this process; 0: all. The instant is the run's */
    const struct ml_level_caps *caps; /* NULL: none */
};

struct ml_snapshot {
    struct ml_arena arena; /* all strings of the report */
    const char *command;   /* NULL: not recorded */
    const char *host;
    uint64_t start_wall_ns;
    struct ml_instant instant;
    const char *device;     /* NULL: all */
    int64_t device_index;   /* -1: all; ML_NOWHERE: a device without memory */
    uint32_t pid;           /* 0: all */
    uint64_t bytes, blocks; /* live at the instant, in counted spaces */
    uint64_t file_bytes;    /* of them in mapped files, see ML_FILES_DEVICE */
};

/* Reads the trace once to find the instant, once for categories if it has modules or phases, and
 * once up to the instant. If the trace has checkpoints, and no caps, only the stretch between one
 * of them and the instant is read; the peaks and refusals of one device take one pass to find.
 * @ret_replay  frozen there; to be released, after a failure too, as is `ret`
 * @return 0; -ENOENT without such a process; or negative errno, see ml_instant_find */
int ml_snapshot(const struct ml_trace *trace, const struct ml_snapshot_opts *opts,
                struct ml_snapshot *ret, struct ml_replay *ret_replay, struct ml_error *err);

/* The same for a report that only adds blocks up. If the trace has outlines (outline.h), most
 * blocks come as groups: see ml_replay_count. */
int ml_snapshot_sums(const struct ml_trace *trace, const struct ml_snapshot_opts *opts,
                     struct ml_snapshot *ret, struct ml_replay *ret_replay, struct ml_error *err);

/* The facts for a report on a whole run: the command, when it ran and where.
 * @ret    to be released */
void ml_snapshot_begin(const struct ml_trace *trace, struct ml_snapshot *ret);

/* Restricts a snapshot to the blocks of one process; 0: all.
 * @return 0, or -ENOENT without such a process */
int ml_snapshot_choose_process(struct ml_snapshot *snapshot, const struct ml_trace *trace,
                               uint32_t pid, struct ml_error *err);

/* Restricts a snapshot of all devices to one, by its full name. It becomes empty if nothing was
 * recorded for that device.
 * @return 0 or -ENOMEM */
int ml_snapshot_narrow(struct ml_snapshot *snapshot, const struct ml_replay *replay,
                       const char *device);
void ml_snapshot_release(struct ml_snapshot *snapshot);

/* Whether a block is of its device and its process. */
bool ml_snapshot_has(const struct ml_snapshot *snapshot, const struct ml_replay *replay,
                     const struct ml_block *block);

/* Visits the blocks. Start with *cursor 0. @return NULL at the end */
const struct ml_block *ml_snapshot_next(const struct ml_snapshot *snapshot,
                                        const struct ml_replay *replay, size_t *cursor);

/* The percentage of all bytes at the instant. */
double ml_snapshot_percent(const struct ml_snapshot *snapshot, uint64_t bytes);

#endif
