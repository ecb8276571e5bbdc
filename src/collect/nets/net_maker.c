/* net_maker.c: see net_maker.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "net_maker.h"

#include <stdlib.h>
#include <string.h>

#include "address_model.h"
#include "encoder_walk.h"
#include "net_table.h"

#define THREADS 256 /* slots */
#define PREFETCH 12 /* addresses */

struct ml_net_maker {
    struct ml_net_table table;
    bool is_on;
    uint32_t space;
    uint64_t series;
    uint32_t number; /* of the next net */
    /* The thread's next allocation is kept: it may be the second half of a move. */
    bool after_move[THREADS];
    /* Since the last step: */
    int64_t change_bytes, crest_bytes;
    uint64_t crest_ns, alloc_ns;
    uint32_t crest_event, last_event; /* of carried blocks */
    uint32_t allocations, frees;
    /* The net: */
    uint32_t steps, kept, groups, given;
    uint64_t named[ML_BLOCK_MAX_EVENTS / 64]; /* bits of allocations that labels and others name */
    uint8_t has_changed[ML_NET_GROUPS_MAX];
    struct ml_net_step step_list[ML_NET_STEPS_MAX];
    struct ml_event kept_list[ML_BLOCK_MAX_EVENTS];
    struct ml_net_group group_list[ML_NET_GROUPS_MAX];
    struct ml_net_block given_list[ML_NET_BLOCKS_MAX];
};

struct ml_net_maker *ml_net_maker_new(void)
{
    return calloc(1, sizeof(struct ml_net_maker)); /* lists use memory as far as they are filled */
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

/* ---- What the block contains ----------------------------------------------------- */

enum {
    NAMES_BLOCKS = 1, /* other than by allocating and freeing them */
    FREES_RANGES = 2,
    ENDS_PROCESSES = 4,
};

static const uint8_t contents_of_kind[ML_KIND_MASK + 1] = {
    [ML_FREE_RANGE] = FREES_RANGES, [ML_ALLOC_EX] = NAMES_BLOCKS,
    [ML_MOVE] = NAMES_BLOCKS,       [ML_MOVE_FAILED] = NAMES_BLOCKS,
    [ML_LABEL] = NAMES_BLOCKS,      [ML_PROCESS_END] = ENDS_PROCESSES,
};

static unsigned contents_of(const struct ml_encoder *e)
{
    unsigned contents = 0;

    for (uint32_t i = 0; i < e->events; i++)
        contents |= contents_of_kind[e->kinds[i] & ML_KIND_MASK];
    return contents;
}

/* The space that more than half of the allocations have, if one does. */
static uint32_t busiest_space(const struct ml_encoder *e)
{
    uint32_t space = 0, found = 0, votes = 0, changes = 0;

    for (uint32_t i = 0; i < e->events; i++) {
        uint8_t kind = e->kinds[i];

        if (kind & ML_SPACE_CHANGED)
            space = e->space_col[changes++];
        if ((kind & ML_KIND_MASK) != ML_ALLOC)
            continue;
        if (votes == 0)
            found = space;
        votes += found == space ? 1 : UINT32_MAX;
    }
    return found;
}

static bool frees_ranges_of(const struct ml_encoder *e, uint32_t space)
{
    struct ml_encoder_walk w;

    ml_encoder_walk_begin(&w, e);
    while (ml_encoder_walk_next(&w))
        if (w.event.kind == ML_FREE_RANGE && w.event.space == space)
            return true;
    return false;
}

/* Whether a net can have these events. */
static bool fits(const struct ml_encoder *e, unsigned contents, uint32_t space)
{
    if (contents & ENDS_PROCESSES || (contents & FREES_RANGES && frees_ranges_of(e, space)))
        return false;
    for (uint32_t i = 0; i < e->wide_sizes; i++)
        if (e->wide_size_col[i] > ML_BYTES_MAX)
            return false;
    return true;
}

/* Finds the allocations of the block that a label or another event names, by the references that
 * the encoder has found. A live table counts the bytes of such a block in its category as soon as
 * it is named, so that it must see the allocation. */
static void find_named(struct ml_net_maker *m, const struct ml_encoder *e, unsigned contents)
{
    uint32_t allocs = 0, refs = 0;

    memset(m->named, 0, sizeof(m->named));
    if (!(contents & NAMES_BLOCKS))
        return;
    for (uint32_t i = 0; i < e->events; i++) {
        uint8_t kind = e->kinds[i] & ML_KIND_MASK;
        uint32_t ref, bits = ml_shapes[kind].bits;

        if (!(bits & ML_HAS_ADDR))
            continue;
        if (bits & ML_HAS_STACK) {
            allocs++;
            continue;
        }
        ref = e->packed.free_ref_col[refs++];
        if (kind != ML_FREE && ref != ML_REF_EXPLICIT)
            m->named[(allocs - ref) / 64] |= UINT64_C(1) << (allocs - ref) % 64;
    }
}

/* ---- Steps ------------------------------------------------------------------------- */

static void add_step(struct ml_net_maker *m, const struct ml_encoder_walk *w,
                     enum ml_net_step_kind kind)
{
    m->step_list[m->steps++] = (struct ml_net_step){
        .addr = kind == ML_NET_TOUCH ? w->event.addr : 0,
        .time_ns = w->event.time_ns,
        .change_bytes = m->change_bytes,
        .crest_bytes = (uint64_t)m->crest_bytes,
        .crest_ns = m->crest_ns,
        .alloc_ns = m->alloc_ns,
        .crest_event = m->crest_event,
        .event = w->next - 1,
        .allocations = m->allocations,
        .frees = m->frees,
        .kind = kind,
        .crest_is_last = m->crest_event == m->last_event,
    };
    m->change_bytes = m->crest_bytes = 0;
    m->allocations = m->frees = 0;
    m->crest_ns = m->alloc_ns = 0;
    m->crest_event = m->last_event = 0;
}

/* The live table gets a carried block. */
static void give(struct ml_net_maker *m, const struct ml_encoder_walk *w, struct ml_net_place *p)
{
    m->given_list[m->given++] = (struct ml_net_block){p->addr, p->size, p->time_ns, p->group, 0};
    p->state = ML_NET_UNKNOWN;
    m->table.carried--;
    add_step(m, w, ML_NET_GIVE);
}

static void keep(struct ml_net_maker *m, const struct ml_encoder_walk *w)
{
    const struct ml_event *ev = &w->event;

    if (ev->space == m->space && ml_shapes[ev->kind].bits & ML_HAS_ADDR && ev->addr != 0) {
        struct ml_net_place *place = ml_net_place_of(&m->table, ev->addr);

        if (place && place->state == ML_NET_CARRIED)
            give(m, w, place);
        if (place)
            place->state = ml_frees_block(ev->kind) ? ML_NET_FREE : ML_NET_UNKNOWN;
    }
    if (ev->kind == ML_MOVE)
        m->after_move[ev->thread % THREADS] = true;
    m->kept_list[m->kept++] = *ev;
    add_step(m, w, ML_NET_KEPT);
}

/* ---- Carried blocks ------------------------------------------------------------------ */

static ML_ALWAYS_INLINE struct ml_net_group *change_group(struct ml_net_maker *m, uint32_t number)
{
    struct ml_net_group *group = &m->table.groups[number];

    if (ML_UNLIKELY(!m->has_changed[number])) {
        m->has_changed[number] = true;
        m->group_list[m->groups++].number = number;
    }
    return group;
}

static void carry(struct ml_net_maker *m, const struct ml_encoder_walk *w,
                  struct ml_net_place *place, uint32_t number)
{
    const struct ml_event *ev = &w->event;
    struct ml_net_group *group = change_group(m, number);

    if (place->state != ML_NET_FREE)
        add_step(m, w, ML_NET_TOUCH);
    *place = (struct ml_net_place){ev->addr, ev->size, ev->time_ns, number, ML_NET_CARRIED};
    m->table.carried++;
    group->allocations++;
    group->allocated_bytes += ev->size;
    m->allocations++;
    m->change_bytes += (int64_t)ev->size;
    m->alloc_ns = ev->time_ns;
    m->last_event = w->next - 1;
    if (m->change_bytes > m->crest_bytes) {
        m->crest_bytes = m->change_bytes;
        m->crest_ns = ev->time_ns;
        m->crest_event = m->last_event;
    }
}

/* Whether a live table must see the allocation. The last event of the block may be named by the
 * first of the next. */
static bool must_keep(struct ml_net_maker *m, const struct ml_encoder_walk *w)
{
    bool *after_move = &m->after_move[w->event.thread % THREADS];
    bool is_after = *after_move;
    uint32_t alloc = w->allocs - 1;

    *after_move = false;
    return is_after || w->next == w->e->events || m->named[alloc / 64] >> alloc % 64 & 1;
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
    group = ml_net_group_of(&m->table, ev->thread, ev->scope, ev->stack);
    if (!place || place->state == ML_NET_CARRIED || group == ML_NET_GROUPS_MAX)
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
    group = change_group(m, place->group);
    group->frees++;
    group->freed_bytes += place->size;
    m->frees++;
    m->change_bytes -= (int64_t)place->size;
    m->last_event = w->next - 1;
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
    add_step(m, &w, ML_NET_LAST);
}

/* ---- Series --------------------------------------------------------------------------- */

static bool begin_series(struct ml_net_maker *m, uint32_t space, uint64_t series)
{
    ml_net_table_release(&m->table);
    if (ml_net_table_init(&m->table) < 0)
        return false;
    memset(m->after_move, true, sizeof(m->after_move)); /* the move may be in the block before */
    m->space = space;
    m->series = series;
    m->number = 0;
    m->is_on = true;
    return true;
}

/* Hands the sums of the groups over to the net. */
static void list_groups(struct ml_net_maker *m)
{
    for (uint32_t i = 0; i < m->groups; i++) {
        uint32_t number = m->group_list[i].number;
        struct ml_net_group *group = &m->table.groups[number];

        m->group_list[i] = *group;
        group->allocations = group->allocated_bytes = group->frees = group->freed_bytes = 0;
        m->has_changed[number] = false;
    }
}

static void fill(struct ml_net_maker *m, enum ml_net_kind kind, uint32_t events, struct ml_net *ret)
{
    *ret = (struct ml_net){
        .head = {m->series, m->number++, kind, events, m->space, m->steps, m->kept, m->groups,
                 m->given},
        .steps = m->step_list,
        .kept = m->kept_list,
        .groups = m->group_list,
        .given = m->given_list,
    };
}

static void clear(struct ml_net_maker *m)
{
    m->steps = m->kept = m->groups = m->given = 0;
}

void ml_net_end(struct ml_net_maker *m, uint32_t events, struct ml_net *ret)
{
    clear(m);
    for (size_t i = 0; i <= m->table.mask; i++) {
        const struct ml_net_place *p = &m->table.places[i];

        if (p->state == ML_NET_CARRIED)
            m->given_list[m->given++] =
                (struct ml_net_block){p->addr, p->size, p->time_ns, p->group, 0};
    }
    m->is_on = false;
    ml_net_table_release(&m->table);
    fill(m, ML_NET_ENDS, events, ret);
}

bool ml_net_make(struct ml_net_maker *m, const struct ml_encoder *e, uint64_t series,
                 struct ml_net *ret)
{
    unsigned contents = contents_of(e);
    uint32_t space = m->is_on ? m->space : busiest_space(e);
    bool does_fit = fits(e, contents, space);

    if (!m->is_on && (!does_fit || !begin_series(m, space, series)))
        return false;
    if (!does_fit) {
        ml_net_end(m, e->events, ret);
        return true;
    }
    clear(m);
    find_named(m, e, contents);
    take_all(m, e);
    list_groups(m);
    fill(m, ML_NET_GOES_ON, e->events, ret);
    return true;
}
