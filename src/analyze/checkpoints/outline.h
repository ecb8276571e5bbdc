/* outline.h: a live table as sums, for tables of so many blocks that checkpoints would be as large
 * as the trace.
 *
 * An outline has the state of the table without its blocks: the blocks are only counted, in groups
 * of the same space, category, scope, thread, stack and label. A replay continues from there with
 * an empty pool. What it cannot know are the blocks that were live at the outline and are freed
 * later, so these are stored, too: the number of the event that frees each, its group and its size.
 * Before that event the block is put into the pool and taken out of its group. Totals, peaks and
 * sums by group are then those of a replay from the start; only addresses and times of single
 * blocks are not known.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_OUTLINE_H
#define ML_ANALYZE_OUTLINE_H

#include "checkpoints.h"

/* The blocks of one stretch that are freed, in order. */
struct ml_outline_frees {
    struct ml_buf bytes; /* of the section */
    const uint8_t *gaps, *gaps_end;
    const uint8_t *groups, *groups_end;
    const uint8_t *sizes, *sizes_end;
    uint64_t next_event; /* that frees a block; UINT64_MAX: there is none */
};

/* The last outline up to an event, or up to a time, from which a replay can reach the event or the
 * time; NULL: there is none. */
const struct ml_outline *ml_outline_before_event(const struct ml_checkpoints *checkpoints,
                                                 uint64_t event);
const struct ml_outline *ml_outline_before_time(const struct ml_checkpoints *checkpoints,
                                                uint64_t time_ns);

/* Restores the table, which must be new and without caps, and opens the list of its frees.
 * @ret    to be released, after a failure too
 * @return 0, -EBADMSG, or another negative errno; the table can then only be released */
int ml_outline_restore(const struct ml_checkpoints *checkpoints, const struct ml_outline *outline,
                       struct ml_replay *replay, struct ml_outline_frees *ret);

/* The same for a table that has come to the next outline: its blocks become groups again.
 * @return as above */
int ml_outline_go_on(const struct ml_checkpoints *checkpoints, const struct ml_outline *outline,
                     struct ml_replay *replay, struct ml_outline_frees *ret);
void ml_outline_frees_release(struct ml_outline_frees *frees);

/* Puts the block that `event` frees, the next of the list, into the pool. Call it before the table
 * gets the event. @return as above */
int ml_outline_put_back(struct ml_outline_frees *frees, struct ml_replay *replay,
                        const struct ml_event *event);

#endif
