/* following_nets.c: see following_classes.h. Feeds nets (net_events.h) to the classifier. What it
 * then knows of the live blocks is what all events would have told it: allocations are numbered as
 * there, and a call, node or turn that a net leaves out has allocated no block that is left.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>

#include "following_classes.h"
#include "following_state.h"
#include "replay_net.h"

bool ml_following_classes_use_nets(const struct ml_following_classes *f)
{
    const struct ml_classifier *c = &f->classifier;

    for (size_t i = 0; i < c->spaces.len; i++)
        if (c->spaces.items[i].by_engine)
            return false;
    return true;
}

bool ml_following_classes_take_net(const struct ml_following_classes *f, const struct ml_net *net)
{
    const struct ml_classifier *c = &f->classifier;
    int64_t space = ml_replay_net_space(&c->replay, net);

    if (!ml_following_classes_use_nets(f) || space < 0 || (size_t)space >= c->spaces.len ||
        !c->spaces.items[space].looked_at)
        return false;
    return net->head.classes == ML_NET_PAIRS ||
           (net->head.classes == ML_NET_PLAIN && !c->spaces.items[space].classified);
}

static int give(struct ml_classifier *c, uint32_t space, const struct ml_net_block *given)
{
    const struct ml_block block = {
        .addr = given->addr, .size = given->size, .space = space & 0xffffff, .live = true};
    const struct ml_block *adopted;
    int r;

    if (c->spaces.items[space].classified)
        return -EBADMSG;
    r = ml_replay_net_give(&c->replay, &block);
    adopted = r < 0 ? NULL
                    : ml_replay_find(&c->replay, c->replay.spaces.items[space].number, given->addr);
    return adopted ? ml_classifier_adopt(c, adopted) : r;
}

static int visit(struct ml_classifier *c, const struct ml_net_visit *visit)
{
    return visit->scope == ML_NET_TURN ? ml_nodes_turn(&c->nodes, visit->thread, c->next_ordinal)
                                       : ml_classifier_visit(c, visit->thread, visit->scope, false);
}

static int take_step(struct ml_classifier *c, uint32_t space, const struct ml_net *net,
                     const struct ml_net_step *step, uint32_t *kept, uint32_t *given)
{
    switch (step->kind) {
    case ML_NET_KEPT: return ml_classifier_feed(c, &net->kept[(*kept)++]);
    case ML_NET_GIVE: return give(c, space, &net->given[(*given)++]);
    case ML_NET_TOUCH: ml_replay_net_touch(&c->replay, space, step); return c->failed;
    default: return 0;
    }
}

static int take_steps(struct ml_classifier *c, uint32_t space, const struct ml_net *net)
{
    uint32_t kept = 0, given = 0, visits = 0;
    int r = 0;

    for (uint32_t i = 0; r == 0 && i < net->head.steps; i++) {
        const struct ml_net_step *step = &net->steps[i];

        c->next_ordinal += step->allocations;
        for (uint32_t k = 0; r == 0 && k < step->visits; k++)
            r = visit(c, &net->visits[visits++]);
        if (r == 0)
            r = take_step(c, space, net, step, &kept, &given);
    }
    return r;
}

int ml_following_classes_feed_net(struct ml_following_classes *f, const struct ml_net *net)
{
    struct ml_classifier *c = &f->classifier;
    uint32_t space = (uint32_t)ml_replay_net_space(&c->replay, net);
    int r = 0;

    if (net->head.kind == ML_NET_GOES_ON)
        return take_steps(c, space, net);
    for (uint32_t i = 0; r == 0 && i < net->head.given; i++)
        r = give(c, space, &net->given[i]);
    return r;
}
