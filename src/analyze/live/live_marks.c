/* live_marks.c: events that change blocks but not the number of live bytes: labels, the end of a
 * process, and labels that arrive after the table was frozen.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "live_table.h"
#include "live_totals.h"

static void move_to_category(uint64_t bytes, struct ml_replay_category *from,
                             struct ml_replay_category *to, uint64_t time_ns)
{
    from->bytes.live_bytes -= bytes;
    from->allocations--;
    ml_gauge_add(&to->bytes, bytes, time_ns);
    to->allocations++;
}

void ml_live_label(struct ml_replay *r, uint32_t block, uint32_t label, uint8_t category,
                   uint64_t time_ns)
{
    struct ml_block *b = &r->blocks.items[block];
    struct ml_replay_category *from = &r->categories[b->category], *to = &r->categories[category];
    bool counted = r->spaces.items[b->space].counted;

    if (r->on_bytes && counted)
        r->on_bytes(r->ctx, b, -b->size);
    b->label = ml_block_number(label);
    if (category != b->category) {
        b->category = category;
        if (counted)
            move_to_category(b->size, from, to, time_ns);
    }
    if (r->on_bytes && counted)
        r->on_bytes(r->ctx, b, b->size);
}

static void count_left(struct ml_replay *r, const struct ml_replay_space *s,
                       const struct ml_block *b, bool ended, uint64_t time_ns)
{
    if (ended)
        ml_totals_remove(r, s, b, b->size);
    else
        ml_totals_add(r, s, b, b->size, time_ns);
}

void ml_live_set_ended(struct ml_replay *r, uint32_t space, bool ended, uint64_t time_ns)
{
    struct ml_replay_space *s = &r->spaces.items[space];
    struct ml_order_entry entry;
    uint64_t key = 0;

    if (s->ended == ended)
        return;
    s->ended = ended;
    for (size_t i = 0; s->by_addr.slots && i <= s->by_addr.mask; i++)
        if (s->by_addr.slots[i].block != 0)
            count_left(r, s, &r->blocks.items[s->by_addr.slots[i].block - 1], ended, time_ns);
    while (ml_order_ceil(&s->by_order, key, &entry)) {
        count_left(r, s, &r->blocks.items[entry.value], ended, time_ns);
        if (entry.key == UINT64_MAX)
            break;
        key = entry.key + 1;
    }
    for (size_t i = 0; i < r->groups.len; i++)
        if (r->groups.items[i].space == space)
            count_left(r, s, &r->groups.items[i], ended, time_ns);
}

/* ---- A frozen table ---------------------------------------------------- */

static void mark_gone(struct ml_replay *r, const struct ml_event *event, uint32_t space)
{
    const struct ml_replay_space *s = &r->spaces.items[space];
    uint64_t to = ml_end_of(event->addr, event->size);
    int64_t block = ml_live_find(r, space, event->addr);
    struct ml_order_entry entry;
    uint64_t key = event->addr;

    if (block >= 0)
        r->blocks.items[block].gone = true;
    while (s->ranged && event->size > 0 && key < to && ml_order_ceil(&s->by_order, key, &entry) &&
           entry.key < to) {
        r->blocks.items[entry.value].gone = true;
        key = entry.key + 1;
    }
}

static void learn_label(struct ml_replay *r, const struct ml_event *event, uint32_t space)
{
    int64_t block = ml_live_find(r, space, event->addr);
    struct ml_block *b = block < 0 ? NULL : &r->blocks.items[block];

    if (b && !b->gone && b->label == 0 && b->category == 0)
        ml_live_label(r, (uint32_t)block, (uint32_t)event->args[0],
                      event->args[1] < ML_CATEGORIES ? (uint8_t)event->args[1] : 0, event->time_ns);
}

void ml_live_learn(struct ml_replay *r, const struct ml_event *event)
{
    uint64_t space;

    if (!ml_map_get(&r->space_index, event->space, &space))
        return; /* none of its blocks was live at the instant */
    switch (event->kind) {
    case ML_ALLOC:
    case ML_ALLOC_EX:
    case ML_FREE:
    case ML_FREE_RANGE:
    case ML_MOVE: mark_gone(r, event, (uint32_t)space); break;
    case ML_LABEL: learn_label(r, event, (uint32_t)space); break;
    default: break;
    }
}
