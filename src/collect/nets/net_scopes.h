/* net_scopes.h: the scopes of the threads in a series with classes, see net_events.h. It decides
 * which pushes and pops a follower needs, and where its carried blocks were.
 *
 * A push waits until an allocation of its thread is kept. If its pop comes first, both are left
 * out: the call has allocated no block that the follower knows, so that nothing can ask whether it
 * goes on. That holds only if the thread really was in the scope around it: after a loss of events,
 * pushes and pops are kept.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_COLLECT_NET_SCOPES_H
#define ML_COLLECT_NET_SCOPES_H

#include "net_definitions.h"
#include "net_lists.h"

#define ML_NET_THREADS 64 /* slots; threads whose numbers share one take turns */
#define ML_NET_WAITING_MAX 32

struct ml_net_thread {
    uint32_t number; /* + 1; 0: the slot is empty */
    bool knows_scope, knows_place;
    uint32_t scope;  /* after its last push or pop */
    uint32_t place;  /* the scope of its last other event */
    bool has_turned; /* a pop was left out, and no kept one came after it */
    uint32_t waiting;
    struct ml_event waiting_list[ML_NET_WAITING_MAX]; /* pushes, the outermost first */
};

/* Starts zeroed, for each series. */
struct ml_net_scopes {
    struct ml_net_thread threads[ML_NET_THREADS];
};

/* A carried block is allocated or freed by this event. */
void ml_net_scopes_carry(struct ml_net_scopes *s, struct ml_net_lists *l, uint32_t at,
                         const struct ml_event *ev);

/* Before any other event is kept. @return false: it is not to be kept, at least not yet */
bool ml_net_scopes_keep(struct ml_net_scopes *s, struct ml_net_lists *l,
                        const struct ml_net_definitions *d, uint32_t at, const struct ml_event *ev);

/* At the end of a block: keeps the pushes that wait. */
void ml_net_scopes_end(struct ml_net_scopes *s, struct ml_net_lists *l, uint32_t at);

#endif
