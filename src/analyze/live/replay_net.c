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

/* The space of the left-out pairs, NULL: the table has not met it. */
static const struct ml_replay_space *space_of(const struct ml_replay *r, uint32_t number)
{
    for (size_t i = 0; i < r->spaces.len; i++)
        if (r->spaces.items[i].number == number)
            return &r->spaces.items[i];
    return NULL;
}

static bool is_around(const struct ml_replay *r, const struct ml_replay_space *space)
{
    uint32_t index = (uint32_t)(space - r->spaces.items);

    for (size_t i = 0; i < r->spaces.len; i++)
        if (r->spaces.items[i].around == index + 1)
            return true;
    return false;
}

bool ml_replay_takes_net(const struct ml_replay *r, const struct ml_net *net)
{
    const struct ml_replay_space *s = space_of(r, net->head.space);

    return s && !s->ranged && !s->ended && s->around == 0 && s->sampled_bytes == 0 &&
           s->by_addr.slots && !is_around(r, s) && !r->classes && !r->on_open && !r->on_close &&
           !r->on_bytes;
}

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

static void pass_crest(struct ml_replay *r, struct ml_replay_space *s,
                       const struct ml_net_step *step, uint64_t first_event)
{
    const struct ml_block block = {.size = step->crest_bytes};

    if (step->crest_bytes == 0 || !is_crest(r, s, step->crest_bytes))
        return;
    r->events = first_event + step->crest_event + 1;
    ml_gauge_add(&s->bytes, block.size, step->crest_ns);
    s->bytes.live_bytes -= block.size;
    ml_totals_add(r, s, &block, block.size, step->crest_ns);
    ml_totals_remove(r, s, &block, block.size);
}

/* An allocation was at this address: what the table has there was freed unseen. */
static void touch(struct ml_replay *r, struct ml_replay_space *s, const struct ml_net_step *step)
{
    const struct ml_event event = {
        .kind = ML_ALLOC, .time_ns = step->time_ns, .addr = step->addr, .space = s->number};
    struct ml_addr_place place =
        ml_addr_probe(&s->by_addr, &r->blocks.items[0].addr, sizeof(struct ml_block), step->addr);

    if (ML_LIKELY(!place.found))
        return;
    ml_addr_clear(&s->by_addr, place.slot);
    ml_live_close_replaced(r, s, place.block, &event);
}

static void count_pairs(struct ml_replay *r, struct ml_replay_space *s,
                        const struct ml_net_head *head)
{
    s->allocations += head->pairs;
    s->allocated_bytes += head->pair_bytes;
    s->frees += head->pairs;
    if (s->counted) {
        r->categories[0].allocations += head->pairs;
        r->categories[0].frees += head->pairs;
    }
}

static void prefetch(const struct ml_replay_space *s, const struct ml_net *net, uint32_t i,
                     uint32_t kept)
{
    if (i + PREFETCH_STEPS >= net->head.steps)
        return;
    if (net->steps[i + PREFETCH_STEPS].kind == ML_NET_TOUCH)
        ml_addr_prefetch(&s->by_addr, net->steps[i + PREFETCH_STEPS].addr);
    if (kept + PREFETCH_STEPS < net->head.kept)
        ml_addr_prefetch(&s->by_addr, net->kept[kept + PREFETCH_STEPS].addr);
}

int ml_replay_feed_net(struct ml_replay *r, const struct ml_net *net)
{
    size_t index = (size_t)(space_of(r, net->head.space) - r->spaces.items);
    uint64_t first_event = r->events;
    uint32_t kept = 0;
    int code = 0;

    for (uint32_t i = 0; code == 0 && i < net->head.steps; i++) {
        const struct ml_net_step *step = &net->steps[i];
        struct ml_replay_space *s = &r->spaces.items[index]; /* a new space moves the list */

        prefetch(s, net, i, kept);
        pass_crest(r, s, step, first_event);
        if (step->kind == ML_NET_TOUCH) {
            touch(r, s, step);
        } else if (step->kind == ML_NET_KEPT) {
            r->events = first_event + step->event;
            code = ml_replay_feed(r, &net->kept[kept++]);
        }
    }
    r->events = first_event + net->head.events;
    count_pairs(r, &r->spaces.items[index], &net->head);
    return code;
}
