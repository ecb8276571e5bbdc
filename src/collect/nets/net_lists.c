/* net_lists.c: see net_lists.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "net_lists.h"

static void forget_since(struct ml_net_lists *l)
{
    l->change_bytes = l->crest_bytes = 0;
    l->allocations = l->frees = l->new_visits = 0;
    l->crest_ns = l->alloc_ns = 0;
    l->crest_event = l->last_event = 0;
}

void ml_net_lists_clear(struct ml_net_lists *l)
{
    forget_since(l);
    l->steps = l->kept = l->groups = l->given = l->visits = 0;
}

void ml_net_lists_step(struct ml_net_lists *l, uint32_t at, const struct ml_event *ev,
                       enum ml_net_step_kind kind)
{
    l->step_list[l->steps++] = (struct ml_net_step){
        .addr = kind == ML_NET_TOUCH ? ev->addr : 0,
        .time_ns = ev->time_ns,
        .change_bytes = l->change_bytes,
        .crest_bytes = (uint64_t)l->crest_bytes,
        .crest_ns = l->crest_ns,
        .alloc_ns = l->alloc_ns,
        .crest_event = l->crest_event,
        .event = at,
        .allocations = l->allocations,
        .frees = l->frees,
        .kind = kind,
        .crest_is_last = l->crest_event == l->last_event,
        .visits = l->new_visits,
    };
    forget_since(l);
}

void ml_net_lists_keep(struct ml_net_lists *l, uint32_t at, const struct ml_event *ev)
{
    l->kept_list[l->kept++] = *ev;
    ml_net_lists_step(l, at, ev, ML_NET_KEPT);
}

struct ml_net ml_net_lists_net(const struct ml_net_lists *l)
{
    return (struct ml_net){
        .head =
            {
                .steps = l->steps,
                .kept = l->kept,
                .groups = l->groups,
                .given = l->given,
                .visits = l->visits,
            },
        .steps = l->step_list,
        .kept = l->kept_list,
        .groups = l->group_list,
        .given = l->given_list,
        .visits = l->visit_list,
    };
}
