/* net_table.h: what the collector knows of a space while it makes a series of nets: the carried
 * block at each address, and the groups.
 *
 * The table also remembers addresses that are certainly free, because the series contains a free
 * of them. It has a limit. Beyond that it forgets free addresses, and refuses blocks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_COLLECT_NET_TABLE_H
#define ML_COLLECT_NET_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compiler.h"
#include "net_events.h"

enum ml_net_state {
    ML_NET_UNKNOWN = 0, /* the follower may have a block there */
    ML_NET_FREE = 1,    /* no block is live there */
    ML_NET_CARRIED = 2,
};

struct ml_net_place {
    uint64_t addr; /* 0: the place is empty */
    uint64_t size;
    uint64_t time_ns;
    uint32_t group;
    uint32_t state; /* enum ml_net_state */
};

struct ml_net_group_slot {
    uint32_t thread, scope, stack;
    uint32_t number; /* + 1; 0: the slot is empty */
};

struct ml_net_table {
    struct ml_net_place *places;
    size_t mask;
    size_t used; /* places that are not empty */
    size_t carried;
    struct ml_net_group_slot *group_slots;
    struct ml_net_group *groups; /* by number; the sums are those of the current net */
    uint32_t group_count;
    struct ml_net_group_slot last; /* the group that was found last */
};

/* @return 0 or -ENOMEM; release it in both cases */
int ml_net_table_init(struct ml_net_table *t);
void ml_net_table_release(struct ml_net_table *t);

static ML_ALWAYS_INLINE size_t ml_net_home(const struct ml_net_table *t, uint64_t addr)
{
    return (addr * UINT64_C(0x9e3779b97f4a7c15) >> 32) & t->mask;
}

static ML_ALWAYS_INLINE void ml_net_prefetch(const struct ml_net_table *t, uint64_t addr)
{
    __builtin_prefetch(&t->places[ml_net_home(t, addr)], 1);
}

/* The place of an address other than 0. An address that the table does not have gets one, with the
 * state ML_NET_UNKNOWN. Valid until the next call.
 * @return NULL if the table is full */
struct ml_net_place *ml_net_place_of(struct ml_net_table *t, uint64_t addr);

/* @return the number of the group, or ML_NET_GROUPS_MAX if there are too many */
uint32_t ml_net_find_group(struct ml_net_table *t, uint32_t thread, uint32_t scope, uint32_t stack);

/* The same, quicker for the group that was found last. */
static ML_ALWAYS_INLINE uint32_t ml_net_group_of(struct ml_net_table *t, uint32_t thread,
                                                 uint32_t scope, uint32_t stack)
{
    if (t->last.number > 0 && t->last.stack == stack && t->last.scope == scope &&
        t->last.thread == thread)
        return t->last.number - 1;
    return ml_net_find_group(t, thread, scope, stack);
}

#endif
