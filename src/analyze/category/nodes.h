/* nodes.h: what each thread is running: a node of a backward pass, and a turn.
 *
 * A new node starts whenever the thread's scope changes or a mark says so, as far as events show.
 * A new turn starts whenever the thread enters or leaves a scope. Each stores the number of the
 * next allocation (classify.h). The number and the thread of a block are then enough to decide
 * whether the node or turn that allocated it is still running.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_NODES_H
#define ML_ANALYZE_NODES_H

#include <stdbool.h>
#include <stdint.h>

#include "vec.h"

/* An activity that a thread continues until it starts the next. */
struct ml_stretch {
    bool begun;
    uint64_t next_ordinal; /* when it began */
};

struct ml_node {
    uint32_t place; /* a scope */
    struct ml_stretch node, turn;
};

/* All zero bytes is a valid one without threads. Threads beyond 65,536 are not tracked. */
struct ml_nodes {
    ML_VEC(struct ml_node) threads; /* by number */
};

void ml_nodes_release(struct ml_nodes *nodes);

/* The thread is at that place, the scope that identifies its node; `next_ordinal` is that of the
 * next allocation.
 * @marked  it starts a new node, though the place may be the same
 * @return 0 or -ENOMEM */
int ml_nodes_follow(struct ml_nodes *nodes, uint32_t thread, uint32_t place, bool marked,
                    uint64_t next_ordinal);

/* The thread enters or leaves a scope. @return 0 or -ENOMEM */
int ml_nodes_turn(struct ml_nodes *nodes, uint32_t thread, uint64_t next_ordinal);

/* Whether the thread that allocated the block of that ordinal is still in the same node, or in
 * the same turn. */
bool ml_node_goes_on(const struct ml_nodes *nodes, uint32_t thread, uint64_t ordinal);
bool ml_turn_goes_on(const struct ml_nodes *nodes, uint32_t thread, uint64_t ordinal);

#endif
