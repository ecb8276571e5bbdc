/* replay_net.c: see replay_net.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "replay_net.h"

#include <errno.h>

#include "live_table.h"
#include "live_totals.h"

/* How far ahead the addresses of steps are looked up. */
#define PREFETCH_STEPS 8

void ml_net_series_release(struct ml_net_series *s)
{
    ml_vec_release(&s->group_indexes);
    *s = (struct ml_net_series){0};
}

/* ---- Whether ------------------------------------------------------------------- */

int64_t ml_replay_net_space(const struct ml_replay *r, const struct ml_net *net)
{
    for (size_t i = 0; i < r->spaces.len; i++)
        if (r->spaces.items[i].number == net->head.space)
            return (int64_t)i;
    return -1;
}

static bool is_around(const struct ml_replay *r, const struct ml_replay_space *space)
{
    uint32_t index = (uint32_t)(space - r->spaces.items);

    for (size_t i = 0; i < r->spaces.len; i++)
        if (r->spaces.items[i].around == index + 1)
            return true;
    return false;
}

bool ml_replay_takes_net(const struct ml_replay *r, const struct ml_net_series *series,
                         const struct ml_net *net)
{
    int64_t space = ml_replay_net_space(r, net);
    const struct ml_replay_space *s = space < 0 ? NULL : &r->spaces.items[space];

    if (series->is_on && (net->head.series != series->number || net->head.number != series->next))
        return false;
    if (!series->is_on && (net->head.kind != ML_NET_GOES_ON || net->head.number != 0))
        return false;
    return s && !s->ranged && !s->ended && s->around == 0 && s->sampled_bytes == 0 &&
           !is_around(r, s) && !r->classes && !r->on_open && !r->on_close && !r->on_bytes;
}

/* ---- Carried blocks -------------------------------------------------------------- */

/* Whether the bytes, added for a moment, would be a new peak of anything. */
static bool is_crest(const struct ml_replay *r, const struct ml_replay_space *s, uint64_t bytes)
{
    const struct ml_replay_device *device = &r->devices.items[s->device];
    const struct ml_gauge *level = &device->levels[s->level];
    const struct ml_gauge *process = &r->processes.items[s->process].bytes;
    const struct ml_gauge *category = &r->categories[0].bytes;

    if (s->bytes.live_bytes + bytes > s->bytes.peak_bytes ||
        level->live_bytes + bytes > level->peak_bytes)
        return true;
    return s->counted && (r->bytes.live_bytes + bytes > r->recent_peak.bytes ||
                          device->bytes.live_bytes + bytes > device->crest_bytes ||
                          process->live_bytes + bytes > process->peak_bytes ||
                          category->live_bytes + bytes > category->peak_bytes);
}

static void add_bytes(struct ml_replay *r, struct ml_replay_space *s, uint64_t bytes,
                      uint64_t time_ns)
{
    const struct ml_block block = {.size = bytes};

    ml_gauge_add(&s->bytes, bytes, time_ns);
    ml_totals_add(r, s, &block, bytes, time_ns);
}

static void remove_bytes(struct ml_replay *r, struct ml_replay_space *s, uint64_t bytes)
{
    const struct ml_block block = {.size = bytes};

    s->bytes.live_bytes -= bytes;
    ml_totals_remove(r, s, &block, bytes);
}

static void pass_bytes(struct ml_replay *r, struct ml_replay_space *s,
                       const struct ml_net_step *step, uint64_t first_event)
{
    uint64_t change = (uint64_t)step->change_bytes;

    if (step->crest_bytes > 0 && is_crest(r, s, step->crest_bytes)) {
        r->events = first_event + step->crest_event + 1;
        add_bytes(r, s, step->crest_bytes, step->crest_ns);
        if (!step->crest_is_last)
            remove_bytes(r, s, step->crest_bytes - change);
    } else if (step->change_bytes > 0) {
        add_bytes(r, s, change, step->crest_ns);
    } else {
        remove_bytes(r, s, -change);
    }
}

/* What carried blocks did since the last step. */
static void pass(struct ml_replay *r, struct ml_replay_space *s, const struct ml_net_step *step,
                 uint64_t first_event)
{
    if (step->allocations == 0 && step->frees == 0)
        return;
    pass_bytes(r, s, step, first_event);
    s->allocations += step->allocations;
    s->frees += step->frees;
    s->live_blocks += step->allocations;
    s->live_blocks -= step->frees;
    if (s->counted) {
        r->categories[0].allocations += step->allocations;
        r->categories[0].frees += step->frees;
    }
    if (s->counted && step->allocations > 0) {
        r->unsettled = 0;
        r->unsettled_ns = step->alloc_ns;
    }
}

void ml_replay_net_touch(struct ml_replay *r, uint32_t space, const struct ml_net_step *step)
{
    struct ml_replay_space *s = &r->spaces.items[space];
    const struct ml_event event = {
        .kind = ML_ALLOC, .time_ns = step->time_ns, .addr = step->addr, .space = s->number};
    struct ml_addr_place place;

    if (s->by_addr.used == 0 || !s->by_addr.slots)
        return;
    place =
        ml_addr_probe(&s->by_addr, &r->blocks.items[0].addr, sizeof(struct ml_block), step->addr);
    if (ML_LIKELY(!place.found))
        return;
    ml_addr_clear(&s->by_addr, place.slot);
    ml_live_close_replaced(r, s, place.block, &event);
}

/* ---- Groups ------------------------------------------------------------------------ */

static struct ml_block *group_of(struct ml_replay *r, const struct ml_net_series *s,
                                 uint32_t number)
{
    uint32_t index = number < s->group_indexes.len ? s->group_indexes.items[number] : 0;

    return index > 0 ? &r->groups.items[index - 1] : NULL;
}

static int add_group(struct ml_replay *r, struct ml_net_series *s, const struct ml_net_group *g)
{
    uint32_t thread = ml_block_number(g->thread);
    const struct ml_block group = {
        .space = s->space,
        .scope = ml_block_number(g->scope),
        .thread_low = thread & 0xff,
        .stack = ml_block_number(g->stack),
        .thread_middle = thread >> 8 & 0xff,
        .thread_high = thread >> 16,
    };

    while (s->group_indexes.len <= g->number)
        if (ml_vec_push(&s->group_indexes, 0) < 0)
            return -ENOMEM;
    if (ml_vec_push(&r->groups, group) < 0)
        return -ENOMEM;
    s->group_indexes.items[g->number] = (uint32_t)r->groups.len;
    return 0;
}

static int add_groups(struct ml_replay *r, struct ml_net_series *s, const struct ml_net *net)
{
    for (uint32_t i = 0; i < net->head.groups; i++)
        if (!group_of(r, s, net->groups[i].number) && add_group(r, s, &net->groups[i]) < 0)
            return -ENOMEM;
    return 0;
}

int ml_replay_net_give(struct ml_replay *r, const struct ml_block *block)
{
    int code = ml_live_adopt(r, block);

    return code == -EEXIST ? -EBADMSG : code;
}

/* A block of the group becomes one of the table. */
static int give(struct ml_replay *r, const struct ml_net_series *s,
                const struct ml_net_block *given)
{
    struct ml_block *group = group_of(r, s, given->group), block;

    if (!group)
        return -EBADMSG;
    group->addr--;
    group->size -= given->size;
    group->live = group->addr > 0;
    block = *group;
    block.addr = given->addr;
    block.size = given->size;
    block.time_ns = given->time_ns;
    block.live = true;
    return ml_replay_net_give(r, &block);
}

/* Adds the changes of the net to the sums. A group may have given blocks before. */
static int change_groups(struct ml_replay *r, const struct ml_net_series *s,
                         const struct ml_net *net)
{
    for (uint32_t i = 0; i < net->head.groups; i++) {
        const struct ml_net_group *g = &net->groups[i];
        struct ml_block *group = group_of(r, s, g->number);

        group->addr += g->allocations - g->frees;
        group->size += g->allocated_bytes - g->freed_bytes;
        group->live = group->addr > 0;
        r->spaces.items[s->space].allocated_bytes += g->allocated_bytes;
        if (group->addr > INT64_MAX || group->size > INT64_MAX)
            return -EBADMSG;
    }
    return 0;
}

/* ---- Nets ---------------------------------------------------------------------------- */

static int end_series(struct ml_replay *r, struct ml_net_series *s, const struct ml_net *net)
{
    int code = 0;

    for (uint32_t i = 0; code == 0 && i < net->head.given; i++)
        code = give(r, s, &net->given[i]);
    for (size_t i = 0; code == 0 && i < r->groups.len; i++)
        if (r->groups.items[i].addr != 0 || r->groups.items[i].size != 0)
            code = -EBADMSG;
    r->groups.len = 0;
    ml_net_series_release(s);
    return code;
}

static void prefetch(const struct ml_replay_space *s, const struct ml_net *net, uint32_t i,
                     uint32_t kept)
{
    if (i + PREFETCH_STEPS >= net->head.steps || !s->by_addr.slots)
        return;
    if (net->steps[i + PREFETCH_STEPS].kind == ML_NET_TOUCH)
        ml_addr_prefetch(&s->by_addr, net->steps[i + PREFETCH_STEPS].addr);
    if (kept + PREFETCH_STEPS < net->head.kept)
        ml_addr_prefetch(&s->by_addr, net->kept[kept + PREFETCH_STEPS].addr);
}

static int feed_steps(struct ml_replay *r, const struct ml_net_series *series,
                      const struct ml_net *net)
{
    uint64_t first_event = r->events;
    uint32_t kept = 0, given = 0;
    int code = 0;

    for (uint32_t i = 0; code == 0 && i < net->head.steps; i++) {
        const struct ml_net_step *step = &net->steps[i];
        struct ml_replay_space *s = &r->spaces.items[series->space]; /* a new one moves the list */

        prefetch(s, net, i, kept);
        pass(r, s, step, first_event);
        r->events = first_event + step->event;
        if (step->kind == ML_NET_TOUCH)
            ml_replay_net_touch(r, series->space, step);
        else if (step->kind == ML_NET_GIVE)
            code = give(r, series, &net->given[given++]);
        else if (step->kind == ML_NET_KEPT)
            code = ml_replay_feed(r, &net->kept[kept++]);
    }
    r->events = first_event + net->head.events;
    return code;
}

int ml_replay_feed_net(struct ml_replay *r, struct ml_net_series *s, const struct ml_net *net)
{
    int code;

    if (net->head.kind == ML_NET_ENDS)
        return end_series(r, s, net);
    if (!s->is_on) {
        s->is_on = true;
        s->number = net->head.series;
        s->space = (uint32_t)ml_replay_net_space(r, net);
    }
    s->next = net->head.number + 1;
    code = add_groups(r, s, net);
    if (code == 0)
        code = feed_steps(r, s, net);
    return code == 0 ? change_groups(r, s, net) : code;
}
