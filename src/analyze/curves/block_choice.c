/* block_choice.c: see block_choice.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "block_choice.h"

/* ---- The heaviest -------------------------------------------------------- */

static bool goes_before(const struct ml_candidate *a, const struct ml_candidate *b)
{
    if (a->weight != b->weight)
        return a->weight < b->weight;
    if (a->life_ns != b->life_ns)
        return a->life_ns < b->life_ns;
    if (a->allocation.time_ns != b->allocation.time_ns)
        return a->allocation.time_ns > b->allocation.time_ns;
    return a->allocation.addr > b->allocation.addr;
}

static void sink(struct ml_heaviest *h, size_t at)
{
    struct ml_candidate *heap = h->list.items;

    for (;;) {
        size_t left = 2 * at + 1, least = at;
        struct ml_candidate moved = heap[at];

        for (size_t child = left; child < left + 2 && child < h->list.len; child++)
            if (goes_before(&heap[child], &heap[least]))
                least = child;
        if (least == at)
            return;
        heap[at] = heap[least];
        heap[least] = moved;
        at = least;
    }
}

int ml_heaviest_offer(struct ml_heaviest *heaviest, const struct ml_candidate *one,
                      struct ml_candidate *ret_dropped)
{
    if (heaviest->list.len < heaviest->top) {
        int r = ml_vec_push(&heaviest->list, *one);

        /* A heap once it is full. */
        for (size_t i = heaviest->list.len / 2 + 1;
             r == 0 && i-- > 0 && heaviest->list.len == heaviest->top;)
            sink(heaviest, i);
        return r;
    }
    if (heaviest->top == 0 || goes_before(one, &heaviest->list.items[0])) {
        *ret_dropped = *one;
        return 1;
    }
    *ret_dropped = heaviest->list.items[0];
    heaviest->list.items[0] = *one;
    sink(heaviest, 0);
    return 1;
}

void ml_heaviest_release(struct ml_heaviest *heaviest)
{
    ml_vec_release(&heaviest->list);
}

/* ---- Neighbours ------------------------------------------------------------ */

static uint64_t end_of(const struct ml_candidate *c)
{
    return ml_end_of(c->allocation.addr, c->allocation.size);
}

static void offer(struct ml_neighbourhood *near, uint64_t addr, const struct ml_candidate *one)
{
    uint64_t from = one->allocation.addr, to = end_of(one);

    if (from <= addr && addr < to) {
        near->at = *one;
        near->has_at = true;
    } else if (to <= addr && (!near->has_below || to > end_of(&near->below))) {
        near->below = *one;
        near->has_below = true;
    } else if (from > addr && (!near->has_above || from < near->above.allocation.addr)) {
        near->above = *one;
        near->has_above = true;
    }
}

int ml_neighbours_offer(struct ml_neighbours *near, const struct ml_trace *trace,
                        const struct ml_candidate *one)
{
    const struct ml_space *space = ml_trace_space(trace, one->allocation.space);
    struct ml_neighbourhood added = {.process = space->process, .device = space->device};
    size_t i = 0;

    while (i < near->list.len && (near->list.items[i].process != space->process ||
                                  near->list.items[i].device != space->device))
        i++;
    if (i == near->list.len && ml_vec_push(&near->list, added) < 0)
        return -ENOMEM;
    offer(&near->list.items[i], near->addr, one);
    return 0;
}

struct ml_neighbourhood *ml_neighbours_found(const struct ml_neighbours *near)
{
    for (size_t i = 0; i < near->list.len; i++)
        if (near->list.items[i].has_at)
            return &near->list.items[i];
    return NULL;
}

void ml_neighbours_release(struct ml_neighbours *near)
{
    ml_vec_release(&near->list);
}
