/* nodes.h: what each thread runs: a node of a backward pass, and a turn.
 *
 * It is another node whenever the thread's scope changes or a mark says so, as far as events
 * tell; another turn whenever the thread enters or leaves a scope. Each takes down the number
 * of the next allocation (classify.h), so that a block needs no more than its own number and
 * thread to say later whether that goes on which it was born in.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_NODES_H
#define ML_ANALYZE_NODES_H

#include <stdbool.h>
#include <stdint.h>

#include "vec.h"

/* Something that a thread does until it begins the next. */
struct ml_stretch {
    bool begun;
    uint64_t next_ordinal; /* when it began */
};

struct ml_node {
    uint32_t place; /* a scope */
    struct ml_stretch node, turn;
};

/* All zero bytes is one without threads. Of threads beyond 65,536 nothing is known. */
struct ml_nodes {
    ML_VEC(struct ml_node) threads; /* by number */
};

void ml_nodes_release(struct ml_nodes *nodes);

/* The thread is at that place, a scope that tells its nodes apart; the next allocation has
 * that ordinal.
 * @marked  it begins another node, though the place may be the same
 * @return 0 or -ENOMEM */
int ml_nodes_follow(struct ml_nodes *nodes, uint32_t thread, uint32_t place, bool marked,
                    uint64_t next_ordinal);

/* The thread enters or leaves a scope. @return 0 or -ENOMEM */
int ml_nodes_turn(struct ml_nodes *nodes, uint32_t thread, uint64_t next_ordinal);

/* Whether the thread, which allocated the block of that ordinal, is still in the node, or in
 * the turn, that it was in then. */
bool ml_node_goes_on(const struct ml_nodes *nodes, uint32_t thread, uint64_t ordinal);
bool ml_turn_goes_on(const struct ml_nodes *nodes, uint32_t thread, uint64_t ordinal);

#endif
