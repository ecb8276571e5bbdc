/* replay_net.h: feeds a series of nets (net_events.h) to a live table. Totals, peaks and counts are
 * then those that all its events would have given. Carried blocks are in the table's groups.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_REPLAY_NET_H
#define ML_ANALYZE_REPLAY_NET_H

#include "net_events.h"
#include "replay.h"

/* The series that a table is in. All zero bytes: none. */
struct ml_net_series {
    bool is_on;
    uint64_t number;
    uint32_t next;                  /* net */
    uint32_t space;                 /* index in the table */
    ML_VEC(uint32_t) group_indexes; /* by number: + 1, in the table's groups */
};

void ml_net_series_release(struct ml_net_series *s);

/* Whether the table can take the net: it is the next of its series, or the first of one. The table
 * cannot begin a series if blocks are cut from others, are estimates, or have owners that want to
 * see each one. */
bool ml_replay_takes_net(const struct ml_replay *r, const struct ml_net_series *s,
                         const struct ml_net *net);

/* Precondition: ml_replay_takes_net. After the last net of the series the events of its block are
 * still to be fed.
 * @return 0, -ENOMEM, or -EBADMSG if the net contradicts the table: both are then unusable */
int ml_replay_feed_net(struct ml_replay *r, struct ml_net_series *s, const struct ml_net *net);

/* The index of the space of the carried blocks, or -1: no event has had the space. */
int64_t ml_replay_net_space(const struct ml_replay *r, const struct ml_net *net);

/* What the table's blocks need of a step, for a table that has no use for totals: an allocation was
 * at the step's address, so that what the table has there was freed unseen; and a carried block
 * becomes one of the table. @return 0, -ENOMEM, or -EBADMSG if another block is live there */
void ml_replay_net_touch(struct ml_replay *r, uint32_t space, const struct ml_net_step *step);
int ml_replay_net_give(struct ml_replay *r, const struct ml_block *block);

#endif
