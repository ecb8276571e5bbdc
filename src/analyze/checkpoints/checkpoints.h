/* checkpoints.h: starts a replay near any instant of a trace instead of at its beginning.
 *
 * A checkpoint is the live table after some event, with each block in the category that it has in
 * the end. From there a replay reads a short stretch of the trace, with the categories of the
 * blocks that are allocated in it. The result is the same as that of a replay from the start, to
 * the order of the blocks.
 *
 * Checkpoints are in a file of their own, which is attached to the trace (see
 * ml_trace_attach_checkpoints) and made by checkpoint_maker.h. Its bytes are not trusted: callers
 * replay the trace from its start if a function here fails.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_CHECKPOINTS_H
#define ML_ANALYZE_CHECKPOINTS_H

#include "classes.h"
#include "replay.h"

/* An event, as the number of events up to and including it, and its time. */
struct ml_moment {
    uint64_t event, time_ns;
};

struct ml_checkpoint {
    struct ml_moment at;     /* event 0: before the first */
    uint64_t state, classes; /* the blocks of the file where its sections begin */
    bool whole;              /* has all blocks; else those that differ from the one before */
};

/* A table without single blocks, see outline.h. */
struct ml_outline {
    struct ml_moment at;
    uint64_t block; /* of the file where its section begins */
    uint64_t until; /* event up to which a replay can go on from there */
};

/* The peak within a step, and its last event. */
struct ml_checkpoint_step {
    uint64_t number;
    struct ml_moment peak, end;
};

struct ml_checkpoint_refusal {
    struct ml_moment at;
    uint64_t bytes; /* requested */
};

/* All zero: none. */
struct ml_checkpoints {
    const struct ml_trace *file;
    bool classified;           /* the trace has categories, see classify.h */
    bool has_landmarks;        /* see landmarks.h */
    bool has_segments;         /* the same */
    struct ml_moment last;     /* event of the trace */
    struct ml_moment last_end; /* before the program ended (leftovers.h); event 0: no process
                                  has ended */
    ML_VEC(struct ml_checkpoint) list;
    ML_VEC(struct ml_outline) outlines;
    uint64_t step_count, first_step, highest_step;
    uint64_t steps_block; /* of the file, where the table of steps begins */
    ML_VEC(struct ml_checkpoint_refusal) refusals;
    struct ml_buf directory;
    const uint8_t *end_state, *end_state_end; /* in `directory` */
    const uint8_t *maker, *maker_end;         /* the same; NULL: not said */
};

/* @ret    to be released, after a failure too
 * @return 0, -ENOENT if the trace has none, -EBADMSG, or another negative errno */
int ml_checkpoints_open(const struct ml_trace *trace, struct ml_checkpoints *ret);
void ml_checkpoints_release(struct ml_checkpoints *checkpoints);

/* Whether the program of that name made them. */
bool ml_checkpoints_made_by(const struct ml_checkpoints *checkpoints, const char *maker);

/* The last checkpoint up to an event, or up to a time. */
const struct ml_checkpoint *ml_checkpoint_before_event(const struct ml_checkpoints *checkpoints,
                                                       uint64_t event);
const struct ml_checkpoint *ml_checkpoint_before_time(const struct ml_checkpoints *checkpoints,
                                                      uint64_t time_ns);

/* @return 1, 0 if there is no such step, -EBADMSG, or another negative errno */
int ml_checkpoints_step(const struct ml_checkpoints *checkpoints, uint64_t number,
                        struct ml_checkpoint_step *ret);

/* Restores the live table, which must be new and without caps, and finds the categories of the
 * allocations up to the next checkpoint. They are numbered from the checkpoint on: give them to
 * ml_replay_classify.
 * @ret_classes  to be released, after a failure too
 * @return 0, -EBADMSG, or another negative errno; the table can then only be released */
int ml_checkpoint_restore(const struct ml_checkpoints *checkpoints,
                          const struct ml_checkpoint *checkpoint, struct ml_replay *replay,
                          struct ml_classes *ret_classes);

/* Finds only the categories. The trace must have some. @return as above */
int ml_checkpoint_classes(const struct ml_checkpoints *checkpoints,
                          const struct ml_checkpoint *checkpoint, struct ml_classes *ret);

/* Restores the totals after the last event, without blocks. @return as above */
int ml_checkpoints_restore_end(const struct ml_checkpoints *checkpoints, struct ml_replay *replay);

/* The totals after the last event, without blocks: from checkpoints if the trace has some, else by
 * a replay of all of it.
 * @ret    to be released, after a failure too
 * @return 0 or negative errno */
int ml_totals_at_end(const struct ml_trace *trace, struct ml_replay *ret, struct ml_error *err);

#endif
