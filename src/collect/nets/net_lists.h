/* net_lists.h: the lists of a net that is being made, see net_events.h, and what carried blocks did
 * since its last step.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_COLLECT_NET_LISTS_H
#define ML_COLLECT_NET_LISTS_H

#include "compiler.h"
#include "net_events.h"

struct ml_net_lists {
    /* Since the last step: */
    int64_t change_bytes, crest_bytes;
    uint64_t crest_ns, alloc_ns;
    uint32_t crest_event, last_event; /* of carried blocks */
    uint32_t allocations, frees, new_visits;
    /* The net: */
    uint32_t steps, kept, groups, given, visits;
    struct ml_net_step step_list[ML_NET_STEPS_MAX];
    struct ml_event kept_list[ML_BLOCK_MAX_EVENTS];
    struct ml_net_group group_list[ML_NET_GROUPS_MAX];
    struct ml_net_block given_list[ML_NET_BLOCKS_MAX];
    struct ml_net_visit visit_list[ML_BLOCK_MAX_EVENTS];
};

/* Starts an empty net. */
void ml_net_lists_clear(struct ml_net_lists *l);

/* @at  the number of the event that is looked at, from 0; the same below
 * @ev  that event */
void ml_net_lists_step(struct ml_net_lists *l, uint32_t at, const struct ml_event *ev,
                       enum ml_net_step_kind kind);

/* The live table gets the event. Precondition: each event of the block is kept at most once. */
void ml_net_lists_keep(struct ml_net_lists *l, uint32_t at, const struct ml_event *ev);

/* A carried block is allocated, or freed. */
static ML_ALWAYS_INLINE void ml_net_lists_alloc(struct ml_net_lists *l, uint32_t at, uint64_t size,
                                                uint64_t time_ns)
{
    l->allocations++;
    l->change_bytes += (int64_t)size;
    l->alloc_ns = time_ns;
    l->last_event = at;
    if (l->change_bytes > l->crest_bytes) {
        l->crest_bytes = l->change_bytes;
        l->crest_ns = time_ns;
        l->crest_event = at;
    }
}

static ML_ALWAYS_INLINE void ml_net_lists_free(struct ml_net_lists *l, uint32_t at, uint64_t size)
{
    l->frees++;
    l->change_bytes -= (int64_t)size;
    l->last_event = at;
}

/* The next step gets the visit. Precondition: at most one for each event of the block. */
static ML_ALWAYS_INLINE void ml_net_lists_visit(struct ml_net_lists *l, uint32_t thread,
                                                uint32_t scope)
{
    l->visit_list[l->visits++] = (struct ml_net_visit){thread, scope};
    l->new_visits++;
}

/* The net, which points into the lists. Its series is to be filled in. */
struct ml_net ml_net_lists_net(const struct ml_net_lists *l);

#endif
