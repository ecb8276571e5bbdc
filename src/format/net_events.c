/* net_events.c: see net_events.h.
 *
 * The encoder has found the allocation of each free that is in the same block; the two passes here
 * follow its references.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "net_events.h"

#include <string.h>

#include "encode.h"

#define THREADS 256     /* slots */
#define KNOWN_FREE 8192 /* slots, a power of two */

enum fate {
    KEPT = 0,
    PLAIN, /* left out if a free follows */
    LEFT_OUT,
};

struct ml_net_maker {
    uint32_t space;
    uint32_t steps, kept;
    uint64_t pairs, pair_bytes;
    uint64_t out_bytes; /* of left-out blocks that are live */
    uint64_t crest_bytes, crest_ns;
    uint32_t crest_event;
    /* The thread's next allocation is kept: it may be the second half of a move. */
    bool after_move[THREADS];
    uint64_t known_free[KNOWN_FREE]; /* addresses in the space that are certainly free now */
    uint8_t fates[ML_BLOCK_MAX_EVENTS];
    uint32_t event_of[ML_BLOCK_MAX_EVENTS]; /* of each allocation */
    uint64_t size_of[ML_BLOCK_MAX_EVENTS];
    bool left_out[ML_BLOCK_MAX_EVENTS]; /* events */
    struct ml_net_step step_list[ML_NET_STEPS_MAX];
    struct ml_event kept_list[ML_NET_KEPT_MAX];
};

size_t ml_net_maker_bytes(void)
{
    return sizeof(struct ml_net_maker);
}

/* The position in the encoder's columns. */
struct place {
    const struct ml_encoder *e;
    struct ml_event event; /* the one at this position */
    uint32_t next, addrs, sizes, stacks, threads, spaces, scopes, wide_times, wide_sizes;
    uint32_t allocs, refs;
    uint32_t alloc; /* of an allocation, its number; of others, 1 + that of the block they name */
    uint64_t time_ns;
    const uint8_t *args;
};

static void begin(struct place *p, const struct ml_encoder *e)
{
    *p = (struct place){.e = e, .time_ns = e->first_ns, .args = e->args};
}

static void read_time(struct place *p, uint32_t i)
{
    uint64_t delta = p->e->time_col[i];

    if (ML_UNLIKELY(delta == ML_WIDE_MARK))
        delta = p->e->wide_time_col[p->wide_times++];
    p->time_ns += delta;
    p->event.time_ns = p->time_ns >> p->e->time_shift << p->e->time_shift;
}

static void read_context(struct place *p, uint8_t kind)
{
    if (kind & ML_THREAD_CHANGED)
        p->event.thread = p->e->thread_col[p->threads++];
    if (kind & ML_SPACE_CHANGED)
        p->event.space = p->e->space_col[p->spaces++];
    if (kind & ML_SCOPE_CHANGED)
        p->event.scope = p->e->scope_col[p->scopes++];
}

static void read_block(struct place *p, uint32_t bits)
{
    struct ml_event *ev = &p->event;

    ev->addr = ev->size = ev->stack = 0;
    if (bits & ML_HAS_ADDR)
        ev->addr = p->e->addr_col[p->addrs++];
    if (bits & ML_HAS_SIZE) {
        ev->size = p->e->size_col[p->sizes++];
        if (ML_UNLIKELY(ev->size == ML_WIDE_MARK))
            ev->size = p->e->wide_size_col[p->wide_sizes++];
    }
    if (bits & ML_HAS_STACK)
        ev->stack = p->e->stack_col[p->stacks++];
}

static void read_reference(struct place *p, uint32_t bits)
{
    uint32_t ref;

    p->alloc = 0;
    if (!(bits & ML_HAS_ADDR))
        return;
    if (bits & ML_HAS_STACK) {
        p->alloc = p->allocs++;
        return;
    }
    ref = p->e->packed.free_ref_col[p->refs++];
    if (ref != ML_REF_EXPLICIT)
        p->alloc = p->allocs - ref + 1;
}

/* @return false at the end */
static bool step(struct place *p)
{
    uint32_t i = p->next;
    const struct ml_shape *shape;

    if (i == p->e->events)
        return false;
    p->next++;
    p->event.kind = p->e->kinds[i] & ML_KIND_MASK;
    shape = &ml_shapes[p->event.kind];
    read_time(p, i);
    read_context(p, p->e->kinds[i]);
    read_block(p, shape->bits);
    read_reference(p, shape->bits);
    for (int k = 0; k < shape->args; k++)
        p->args = ml_varint_get(p->args, p->e->args_end, &p->event.args[k]);
    return true;
}

/* ---- Which events are left out ------------------------------------------------- */

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

static void judge_alloc(struct ml_net_maker *m, const struct place *p)
{
    const struct ml_event *ev = &p->event;
    bool *after_move = &m->after_move[ev->thread % THREADS];

    m->fates[p->alloc] =
        ev->kind == ML_ALLOC && ev->space == m->space && !*after_move ? PLAIN : KEPT;
    m->event_of[p->alloc] = p->next - 1;
    m->size_of[p->alloc] = ev->size;
    *after_move = false;
}

/* An event that names a block of this events block. */
static void judge_other(struct ml_net_maker *m, const struct place *p)
{
    const struct ml_event *ev = &p->event;
    uint32_t alloc = p->alloc - 1;

    if (m->fates[alloc] != PLAIN)
        return;
    m->fates[alloc] = KEPT;
    if (ev->kind != ML_FREE || ev->space != m->space)
        return;
    m->fates[alloc] = LEFT_OUT;
    m->left_out[m->event_of[alloc]] = m->left_out[p->next - 1] = true;
    m->pairs++;
    m->pair_bytes += m->size_of[alloc];
}

/* @return false if a net cannot express the event */
static bool judge(struct ml_net_maker *m, const struct place *p)
{
    const struct ml_event *ev = &p->event;
    uint32_t bits = ml_shapes[ev->kind].bits;

    if (ev->kind == ML_PROCESS_END || ev->size > ML_BYTES_MAX ||
        (ev->kind == ML_FREE_RANGE && ev->space == m->space))
        return false;
    if (ev->kind == ML_MOVE)
        m->after_move[ev->thread % THREADS] = true;
    if (bits & ML_HAS_ADDR && bits & ML_HAS_STACK)
        judge_alloc(m, p);
    else if (p->alloc > 0)
        judge_other(m, p);
    return true;
}

static bool choose(struct ml_net_maker *m, const struct ml_encoder *e)
{
    struct place p;
    uint32_t kept;

    begin(&p, e);
    memset(m->left_out, 0, e->events);
    memset(m->after_move, true, sizeof(m->after_move)); /* the move may be in the block before */
    while (step(&p))
        if (!judge(m, &p))
            return false;
    kept = e->events - 2 * (uint32_t)m->pairs;
    return kept <= ML_NET_KEPT_MAX;
}

/* ---- What is kept ---------------------------------------------------------------- */

static uint64_t *known_free_slot(struct ml_net_maker *m, uint64_t addr)
{
    return &m->known_free[(addr * UINT64_C(0x9e3779b97f4a7c15) >> 40) % KNOWN_FREE];
}

/* @return false if there is no room */
static bool add_step(struct ml_net_maker *m, const struct place *p, enum ml_net_step_kind kind)
{
    if (m->steps == ML_NET_STEPS_MAX)
        return false;
    m->step_list[m->steps++] = (struct ml_net_step){
        .addr = kind == ML_NET_TOUCH ? p->event.addr : 0,
        .time_ns = p->event.time_ns,
        .crest_bytes = m->crest_bytes,
        .crest_ns = m->crest_ns,
        .crest_event = m->crest_event,
        .event = p->next - 1,
        .kind = kind,
    };
    /* A kept allocation raises the totals while left-out blocks are live. */
    m->crest_bytes = m->out_bytes;
    m->crest_ns = p->event.time_ns;
    m->crest_event = p->next - 1;
    return true;
}

static bool leave_out(struct ml_net_maker *m, const struct place *p)
{
    const struct ml_event *ev = &p->event;
    uint64_t *slot = known_free_slot(m, ev->addr);

    if (ev->kind == ML_FREE) {
        m->out_bytes -= m->size_of[p->alloc - 1];
        *slot = ev->addr;
        return true;
    }
    if (*slot != ev->addr && !add_step(m, p, ML_NET_TOUCH))
        return false;
    *slot = 0;
    m->out_bytes += ev->size;
    if (m->out_bytes > m->crest_bytes) {
        m->crest_bytes = m->out_bytes;
        m->crest_ns = ev->time_ns;
        m->crest_event = p->next - 1;
    }
    return true;
}

static bool keep(struct ml_net_maker *m, const struct place *p)
{
    const struct ml_event *ev = &p->event;

    if (ev->space == m->space && ml_shapes[ev->kind].bits & ML_HAS_ADDR) {
        uint64_t *slot = known_free_slot(m, ev->addr);

        if (ml_frees_block(ev->kind))
            *slot = ev->addr;
        else if (*slot == ev->addr)
            *slot = 0;
    }
    m->kept_list[m->kept++] = *ev;
    return add_step(m, p, ML_NET_KEPT);
}

bool ml_net_make(struct ml_net_maker *m, const struct ml_encoder *e, struct ml_net *ret)
{
    struct place p;
    bool fits;

    m->space = busiest_space(e);
    m->steps = m->kept = m->crest_event = 0;
    m->pairs = m->pair_bytes = m->out_bytes = m->crest_bytes = m->crest_ns = 0;
    fits = choose(m, e);
    begin(&p, e);
    memset(m->known_free, 0, sizeof(m->known_free));
    while (fits && step(&p))
        fits = m->left_out[p.next - 1] ? leave_out(m, &p) : keep(m, &p);
    if (!fits || !add_step(m, &p, ML_NET_END))
        return false;
    *ret = (struct ml_net){
        .head = {e->events, m->space, m->pairs, m->pair_bytes, m->steps, m->kept},
        .steps = m->step_list,
        .kept = m->kept_list,
    };
    return true;
}

bool ml_net_check(const struct ml_net *net)
{
    const struct ml_net_head *h = &net->head;
    uint32_t kept = 0;

    if (h->events > ML_BLOCK_MAX_EVENTS || h->steps > ML_NET_STEPS_MAX ||
        h->kept > ML_NET_KEPT_MAX || h->pairs > ML_BLOCK_MAX_EVENTS ||
        h->pair_bytes > h->pairs * ML_BYTES_MAX)
        return false;
    for (uint32_t i = 0; i < h->steps; i++) {
        const struct ml_net_step *s = &net->steps[i];

        kept += s->kind == ML_NET_KEPT;
        if (s->kind < ML_NET_KEPT || s->kind > ML_NET_END || s->event >= h->events ||
            s->crest_event >= h->events || s->crest_bytes > h->pair_bytes)
            return false;
    }
    for (uint32_t i = 0; i < h->kept; i++)
        if (net->kept[i].kind >= ML_KIND_COUNT || !ml_shapes[net->kept[i].kind].name ||
            net->kept[i].size > ML_BYTES_MAX)
            return false;
    return kept == h->kept;
}
