/* net_events.c: see net_events.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "net_events.h"

uint64_t ml_net_bytes(const struct ml_net_head *h)
{
    if (h->steps > ML_NET_STEPS_MAX || h->kept > ML_BLOCK_MAX_EVENTS ||
        h->groups > ML_NET_GROUPS_MAX || h->given > ML_NET_BLOCKS_MAX ||
        h->visits > ML_BLOCK_MAX_EVENTS)
        return 0;
    return sizeof(*h) + h->steps * sizeof(struct ml_net_step) + h->kept * sizeof(struct ml_event) +
           h->groups * sizeof(struct ml_net_group) + h->given * sizeof(struct ml_net_block) +
           h->visits * sizeof(struct ml_net_visit);
}

static bool check_step(const struct ml_net_head *h, const struct ml_net_step *s)
{
    return s->kind >= ML_NET_KEPT && s->kind <= ML_NET_LAST && s->event < h->events &&
           s->crest_event < h->events && s->crest_bytes <= INT64_MAX &&
           s->allocations <= h->events && s->frees <= h->events && s->visits <= h->visits;
}

static bool check_lists(const struct ml_net *net)
{
    for (uint32_t i = 0; i < net->head.kept; i++)
        if (net->kept[i].kind >= ML_KIND_COUNT || !ml_shapes[net->kept[i].kind].name ||
            net->kept[i].size > ML_BYTES_MAX)
            return false;
    for (uint32_t i = 0; i < net->head.groups; i++)
        if (net->groups[i].number >= ML_NET_GROUPS_MAX)
            return false;
    for (uint32_t i = 0; i < net->head.given; i++)
        if (net->given[i].group >= ML_NET_GROUPS_MAX || net->given[i].size > ML_BYTES_MAX)
            return false;
    return true;
}

bool ml_net_check(const struct ml_net *net)
{
    const struct ml_net_head *h = &net->head;
    uint32_t kept = 0, given = 0;
    uint64_t visits = 0;

    if (h->kind < ML_NET_GOES_ON || h->kind > ML_NET_ENDS || h->classes > ML_NET_PAIRS ||
        h->events > ML_BLOCK_MAX_EVENTS || !ml_net_bytes(h) || !check_lists(net))
        return false;
    if (h->kind == ML_NET_ENDS)
        return h->steps == 0 && h->kept == 0 && h->groups == 0 && h->visits == 0;
    for (uint32_t i = 0; i < h->steps; i++) {
        kept += net->steps[i].kind == ML_NET_KEPT;
        given += net->steps[i].kind == ML_NET_GIVE;
        visits += net->steps[i].visits;
        if (!check_step(h, &net->steps[i]))
            return false;
    }
    return kept == h->kept && given == h->given && visits == h->visits;
}
