/* net_maker.c: see net_maker.h. Decides for each event whether its block of memory is carried.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "net_maker.h"

#include <stdlib.h>
#include <string.h>

#include "address_model.h"
#include "encoder_walk.h"
#include "net_contents.h"
#include "net_lists.h"
#include "net_scopes.h"
#include "net_table.h"

#define MOVING_THREADS 256 /* slots */
#define PREFETCH 12        /* addresses */

struct ml_net_maker {
    const struct ml_net_definitions *definitions;
    struct ml_net_table table;
    struct ml_net_scopes scopes;
    bool is_on;
    enum ml_net_classes classes;
    uint32_t space;
    uint64_t series;
    uint32_t number; /* of the next net */
    /* The thread's next allocation is kept: it may be the second half of a move. */
    bool after_move[MOVING_THREADS];
    struct ml_net_bits named, pairs;
    bool is_broken; /* a block of a pair had to be given, or its free did not come */
    uint8_t has_changed[ML_NET_GROUPS_MAX];
    struct ml_net_lists lists;
};

struct ml_net_maker *ml_net_maker_new(const struct ml_net_definitions *definitions)
{
    /* Lists use memory as far as they are filled. */
    struct ml_net_maker *m = calloc(1, sizeof(*m));

    if (m)
        m->definitions = definitions;
    return m;
}

void ml_net_maker_free(struct ml_net_maker *m)
{
    if (!m)
        return;
    ml_net_table_release(&m->table);
    free(m);
}

bool ml_net_maker_is_on(const struct ml_net_maker *m)
{
    return m->is_on;
}

/* The number of the event that the walk is at. */
static ML_ALWAYS_INLINE uint32_t at(const struct ml_encoder_walk *w)
{
    return w->next - 1;
}

/* ---- Kept events ------------------------------------------------------------------ */

static void list_given(struct ml_net_maker *m, const struct ml_net_place *p)
{
    m->lists.given_list[m->lists.given++] =
        (struct ml_net_block){p->addr, p->size, p->time_ns, p->group, 0};
}

/* The live table gets a carried block. */
static void give(struct ml_net_maker *m, const struct ml_encoder_walk *w, struct ml_net_place *p)
{
    list_given(m, p);
    m->is_broken |= m->classes == ML_NET_PAIRS;
    p->state = ML_NET_UNKNOWN;
    m->table.carried--;
    ml_net_lists_step(&m->lists, at(w), &w->event, ML_NET_GIVE);
}

/* The table of addresses follows a kept event. */
static void follow_kept(struct ml_net_maker *m, const struct ml_encoder_walk *w)
{
    const struct ml_event *ev = &w->event;
    struct ml_net_place *place;

    if (ev->space != m->space || !(ml_shapes[ev->kind].bits & ML_HAS_ADDR) || ev->addr == 0)
        return;
    place = ml_net_place_of(&m->table, ev->addr);
    if (place && place->state == ML_NET_CARRIED)
        give(m, w, place);
    if (place)
        place->state = ml_frees_block(ev->kind) ? ML_NET_FREE : ML_NET_UNKNOWN;
}

static void keep(struct ml_net_maker *m, const struct ml_encoder_walk *w)
{
    const struct ml_event *ev = &w->event;

    follow_kept(m, w);
    if (ev->kind == ML_MOVE)
        m->after_move[ev->thread % MOVING_THREADS] = true;
    if (m->classes == ML_NET_NO_CLASSES ||
        ml_net_scopes_keep(&m->scopes, &m->lists, m->definitions, at(w), ev))
        ml_net_lists_keep(&m->lists, at(w), ev);
}

/* ---- Carried blocks ------------------------------------------------------------------ */

static ML_ALWAYS_INLINE struct ml_net_group *change_group(struct ml_net_maker *m, uint32_t number)
{
    struct ml_net_group *group = &m->table.groups[number];

    if (ML_UNLIKELY(!m->has_changed[number])) {
        m->has_changed[number] = true;
        m->lists.group_list[m->lists.groups++].number = number;
    }
    return group;
}

static void carry(struct ml_net_maker *m, const struct ml_encoder_walk *w,
                  struct ml_net_place *place, uint32_t number)
{
    const struct ml_event *ev = &w->event;
    struct ml_net_group *group = change_group(m, number);

    if (place->state != ML_NET_FREE)
        ml_net_lists_step(&m->lists, at(w), ev, ML_NET_TOUCH);
    if (m->classes != ML_NET_NO_CLASSES)
        ml_net_scopes_carry(&m->scopes, &m->lists, at(w), ev);
    *place = (struct ml_net_place){ev->addr, ev->size, ev->time_ns, number, ML_NET_CARRIED};
    m->table.carried++;
    group->allocations++;
    group->allocated_bytes += ev->size;
    ml_net_lists_alloc(&m->lists, at(w), ev->size, ev->time_ns);
}

/* Whether a live table must see the allocation. The last event of the block may be named by the
 * first of the next. */
static bool must_keep(struct ml_net_maker *m, const struct ml_encoder_walk *w)
{
    bool *after_move = &m->after_move[w->event.thread % MOVING_THREADS];
    bool is_after = *after_move;
    uint32_t alloc = w->allocs - 1;

    *after_move = false;
    return is_after || w->next == w->e->events || ml_net_bit(&m->named, alloc) ||
           (m->classes == ML_NET_PAIRS && !ml_net_bit(&m->pairs, alloc));
}

/* Whether the block at that place is to be kept. In its first allocation there, a block of a pair
 * may replace one that a follower classifies. */
static bool is_taken(const struct ml_net_maker *m, const struct ml_net_place *place)
{
    return place->state == ML_NET_CARRIED ||
           (m->classes == ML_NET_PAIRS && place->state != ML_NET_FREE);
}

/* Pairs leave nothing behind in their group, so that they need only one. */
static uint32_t group_of(struct ml_net_maker *m, const struct ml_event *ev)
{
    return m->classes == ML_NET_PAIRS
               ? ml_net_group_of(&m->table, 0, 0, 0)
               : ml_net_group_of(&m->table, ev->thread, ev->scope, ev->stack);
}

static void take_alloc(struct ml_net_maker *m, const struct ml_encoder_walk *w)
{
    const struct ml_event *ev = &w->event;
    struct ml_net_place *place;
    uint32_t group;

    if (must_keep(m, w) || ev->space != m->space || ev->addr == 0 ||
        m->table.carried == ML_NET_BLOCKS_MAX) {
        keep(m, w);
        return;
    }
    place = ml_net_place_of(&m->table, ev->addr);
    group = group_of(m, ev);
    if (!place || is_taken(m, place) || group == ML_NET_GROUPS_MAX)
        keep(m, w);
    else
        carry(m, w, place, group);
}

static void take_free(struct ml_net_maker *m, const struct ml_encoder_walk *w)
{
    const struct ml_event *ev = &w->event;
    struct ml_net_place *place = NULL;
    struct ml_net_group *group;

    if (ev->space == m->space && ev->addr != 0)
        place = ml_net_place_of(&m->table, ev->addr);
    if (!place || place->state != ML_NET_CARRIED) {
        keep(m, w);
        return;
    }
    if (m->classes != ML_NET_NO_CLASSES)
        ml_net_scopes_carry(&m->scopes, &m->lists, at(w), ev);
    group = change_group(m, place->group);
    group->frees++;
    group->freed_bytes += place->size;
    ml_net_lists_free(&m->lists, at(w), place->size);
    place->state = ML_NET_FREE;
    m->table.carried--;
}

static void take_all(struct ml_net_maker *m, const struct ml_encoder *e)
{
    struct ml_encoder_walk w;

    ml_encoder_walk_begin(&w, e);
    while (ml_encoder_walk_next(&w)) {
        if (w.addrs + PREFETCH < e->addrs)
            ml_net_prefetch(&m->table, e->addr_col[w.addrs + PREFETCH]);
        if (w.event.kind == ML_ALLOC)
            take_alloc(m, &w);
        else if (w.event.kind == ML_FREE)
            take_free(m, &w);
        else
            keep(m, &w);
    }
    if (m->classes != ML_NET_NO_CLASSES)
        ml_net_scopes_end(&m->scopes, &m->lists, at(&w));
    ml_net_lists_step(&m->lists, at(&w), &w.event, ML_NET_LAST);
    m->is_broken |= m->classes == ML_NET_PAIRS && m->table.carried > 0;
}

/* ---- Series --------------------------------------------------------------------------- */

static bool begin_series(struct ml_net_maker *m, uint32_t space, const struct ml_net_begin *begin)
{
    ml_net_table_release(&m->table);
    if (ml_net_table_init(&m->table) < 0)
        return false;
    memset(m->after_move, true, sizeof(m->after_move)); /* the move may be in the block before */
    memset(&m->scopes, 0, sizeof(m->scopes));
    m->classes = !begin->classes                          ? ML_NET_NO_CLASSES
                 : ml_net_is_plain(m->definitions, space) ? ML_NET_PLAIN
                                                          : ML_NET_PAIRS;
    m->space = space;
    m->series = begin->number;
    m->number = 0;
    m->is_on = true;
    return true;
}

/* Hands the sums of the groups over to the net. */
static void list_groups(struct ml_net_maker *m)
{
    for (uint32_t i = 0; i < m->lists.groups; i++) {
        uint32_t number = m->lists.group_list[i].number;
        struct ml_net_group *group = &m->table.groups[number];

        m->lists.group_list[i] = *group;
        group->allocations = group->allocated_bytes = group->frees = group->freed_bytes = 0;
        m->has_changed[number] = false;
    }
}

static void fill(struct ml_net_maker *m, enum ml_net_kind kind, uint32_t events, struct ml_net *ret)
{
    *ret = ml_net_lists_net(&m->lists);
    ret->head.series = m->series;
    ret->head.number = m->number++;
    ret->head.kind = kind;
    ret->head.events = events;
    ret->head.space = m->space;
    ret->head.classes = m->classes;
}

void ml_net_end(struct ml_net_maker *m, uint32_t events, struct ml_net *ret)
{
    list_groups(m); /* of a net that was given up */
    ml_net_lists_clear(&m->lists);
    for (size_t i = 0; m->classes != ML_NET_PAIRS && i <= m->table.mask; i++)
        if (m->table.places[i].state == ML_NET_CARRIED)
            list_given(m, &m->table.places[i]);
    m->is_on = m->is_broken = false;
    ml_net_table_release(&m->table);
    fill(m, ML_NET_ENDS, events, ret);
}

bool ml_net_make(struct ml_net_maker *m, const struct ml_encoder *e,
                 const struct ml_net_begin *begin, struct ml_net *ret)
{
    uint32_t space = m->is_on ? m->space : ml_net_busiest_space(e);
    bool does_fit = ml_net_fits(e, space);

    if (!m->is_on && (!does_fit || !begin_series(m, space, begin)))
        return false;
    if (does_fit) {
        ml_net_lists_clear(&m->lists);
        ml_net_find_named(e, &m->named);
        if (m->classes == ML_NET_PAIRS)
            ml_net_find_pairs(e, space, &m->pairs);
        take_all(m, e);
    }
    if (!does_fit || m->is_broken) {
        ml_net_end(m, e->events, ret);
        return true;
    }
    list_groups(m);
    fill(m, ML_NET_GOES_ON, e->events, ret);
    return true;
}
