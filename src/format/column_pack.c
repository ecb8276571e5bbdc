/* column_pack.c: columns as they are stored.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "column_pack.h"

#include <string.h>

#include "encode.h"

#define EVENTS_AHEAD 12 /* of those whose places in the finder's table are fetched */

/* The next entries of the collected columns. */
struct collected {
    const struct ml_encoder *e;
    unsigned addr_shift;
    uint32_t times;
    uint32_t addrs;
    uint32_t sizes;
    uint32_t stacks;
    uint32_t threads;
    uint32_t spaces;
    uint32_t wide_times;
    uint32_t wide_sizes;
    uint32_t thread;
    uint32_t space;
    uint64_t time_ns;
};

static void put(struct ml_packed_column *c, uint64_t value, uint64_t wide)
{
    if (ML_UNLIKELY(value >= ML_WIDE_MARK)) {
        c->wide[c->wide_count++] = wide;
        value = ML_WIDE_MARK;
    }
    c->entries[c->count++] = (uint32_t)value;
}

static void pack_time(struct ml_packed_columns *p, struct collected *in)
{
    unsigned shift = in->e->time_shift;
    uint64_t before = in->time_ns >> shift;
    uint64_t delta = in->e->time_col[in->times++];

    if (ML_UNLIKELY(delta == ML_WIDE_MARK))
        delta = in->e->wide_time_col[in->wide_times++];
    in->time_ns += delta;
    delta = (in->time_ns >> shift) - before;
    put(&p->times, delta, delta);
}

static uint64_t pack_size(struct ml_packed_columns *p, struct collected *in, uint32_t stack)
{
    uint64_t *last = ml_model_last_size(&p->finder.model, stack);
    uint64_t size = in->e->size_col[in->sizes++];

    if (ML_UNLIKELY(size == ML_WIDE_MARK))
        size = in->e->wide_size_col[in->wide_sizes++];
    if (size == *last)
        put(&p->sizes, 0, 0);
    else
        put(&p->sizes, size < ML_WIDE_MARK ? size + 1 : ML_WIDE_MARK, size);
    *last = size;
    return size;
}

static void pack_addr(struct ml_packed_columns *p, struct collected *in, uint32_t ref,
                      uint64_t addr)
{
    uint64_t *previous = &p->previous[in->space % ML_PREVIOUS_ADDRS];
    uint64_t folded;

    if (ref != ML_REF_EXPLICIT)
        return;
    folded = ml_zigzag((int64_t)(addr - *previous) >> in->addr_shift);
    *previous = addr;
    put(&p->addrs, folded, folded);
}

static void pack_event(struct ml_packed_columns *p, struct collected *in, uint8_t kind)
{
    const struct ml_encoder *e = in->e;
    uint32_t bits = ml_shapes[kind & ML_KIND_MASK].bits;
    uint32_t stack = bits & ML_HAS_STACK ? e->stack_col[in->stacks++] : 0;
    uint64_t size = 0, addr;
    uint32_t ref;

    if (kind & ML_THREAD_CHANGED)
        in->thread = e->thread_col[in->threads++];
    if (kind & ML_SPACE_CHANGED)
        in->space = e->space_col[in->spaces++];
    if (bits & ML_HAS_SIZE)
        size = pack_size(p, in, stack);
    if (!(bits & ML_HAS_ADDR))
        return;
    addr = e->addr_col[in->addrs++];
    if (bits & ML_HAS_STACK) {
        ref = ml_find_alloc(&p->finder, in->thread, addr, size);
        p->alloc_ref_col[p->alloc_refs++] = ref;
    } else {
        ref = ml_find_free(&p->finder, in->thread, addr, ml_frees_block(kind & ML_KIND_MASK));
        p->free_ref_col[p->free_refs++] = ref;
    }
    pack_addr(p, in, ref, addr);
}

/* The event that is looked at ahead of the others. */
struct ahead {
    uint32_t events;
    uint32_t addrs;
    uint32_t sizes;
};

/* Whether the event is an allocation cannot be predicted, so there is no branch: a free expects its
 * address twice. */
static void look_ahead(const struct ml_encoder *e, struct ahead *a)
{
    uint32_t bits = ml_shapes[e->kinds[a->events++] & ML_KIND_MASK].bits;
    uint64_t is_alloc = 0 - (uint64_t)(bits / ML_HAS_STACK & 1);
    uint64_t addr;

    if (bits & ML_HAS_ADDR) {
        addr = e->addr_col[a->addrs++];
        ml_finder_expect(&e->packed.finder, addr);
        ml_finder_expect(&e->packed.finder,
                         addr + (is_alloc & ml_room_bytes(e->size_col[a->sizes])));
    }
    a->sizes += bits / ML_HAS_SIZE & 1;
}

void ml_pack_columns(struct ml_encoder *e, unsigned addr_shift)
{
    struct collected in = {.e = e, .addr_shift = addr_shift, .time_ns = e->first_ns};
    struct ml_packed_columns *p = &e->packed;
    struct ahead ahead = {0};

    memset(p->previous, 0, sizeof(p->previous));
    p->alloc_refs = p->free_refs = 0;
    p->times.count = p->times.wide_count = 0;
    p->addrs.count = p->addrs.wide_count = 0;
    p->sizes.count = p->sizes.wide_count = 0;
    ml_address_finder_reset(&p->finder);
    for (uint32_t i = 0; i < e->events; i++)
        pack_time(p, &in);
    for (uint32_t i = 0; i < e->events; i++) {
        while (ahead.events < e->events && ahead.events <= i + EVENTS_AHEAD)
            look_ahead(e, &ahead);
        pack_event(p, &in, e->kinds[i]);
    }
}
