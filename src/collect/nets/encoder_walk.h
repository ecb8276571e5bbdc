/* encoder_walk.h: visits the events in an encoder's columns, which ml_encoder_write has just
 * written. Inline, since this runs for every event.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_COLLECT_ENCODER_WALK_H
#define ML_COLLECT_ENCODER_WALK_H

#include "encode.h"

struct ml_encoder_walk {
    const struct ml_encoder *e;
    struct ml_event event; /* the one at this position */
    uint32_t next, addrs, sizes, stacks, threads, spaces, scopes, wide_times, wide_sizes;
    uint32_t allocs; /* so far, with this one */
    uint64_t time_ns;
    const uint8_t *args;
};

static inline void ml_encoder_walk_begin(struct ml_encoder_walk *w, const struct ml_encoder *e)
{
    *w = (struct ml_encoder_walk){.e = e, .time_ns = e->first_ns, .args = e->args};
}

static ML_ALWAYS_INLINE void ml_walk_time(struct ml_encoder_walk *w, uint32_t i)
{
    uint64_t delta = w->e->time_col[i];

    if (ML_UNLIKELY(delta == ML_WIDE_MARK))
        delta = w->e->wide_time_col[w->wide_times++];
    w->time_ns += delta;
    w->event.time_ns = w->time_ns >> w->e->time_shift << w->e->time_shift;
}

static ML_ALWAYS_INLINE void ml_walk_context(struct ml_encoder_walk *w, uint8_t kind)
{
    if (ML_LIKELY(!(kind & ~ML_KIND_MASK)))
        return;
    if (kind & ML_THREAD_CHANGED)
        w->event.thread = w->e->thread_col[w->threads++];
    if (kind & ML_SPACE_CHANGED)
        w->event.space = w->e->space_col[w->spaces++];
    if (kind & ML_SCOPE_CHANGED)
        w->event.scope = w->e->scope_col[w->scopes++];
}

static ML_ALWAYS_INLINE void ml_walk_block(struct ml_encoder_walk *w, uint32_t bits)
{
    struct ml_event *ev = &w->event;

    ev->addr = ev->size = ev->stack = 0;
    if (bits & ML_HAS_ADDR)
        ev->addr = w->e->addr_col[w->addrs++];
    if (bits & ML_HAS_SIZE) {
        ev->size = w->e->size_col[w->sizes++];
        if (ML_UNLIKELY(ev->size == ML_WIDE_MARK))
            ev->size = w->e->wide_size_col[w->wide_sizes++];
    }
    if (bits & ML_HAS_STACK)
        ev->stack = w->e->stack_col[w->stacks++];
    w->allocs += bits & ML_HAS_STACK && bits & ML_HAS_ADDR;
}

/* @return false at the end */
static ML_ALWAYS_INLINE bool ml_encoder_walk_next(struct ml_encoder_walk *w)
{
    uint32_t i = w->next;
    const struct ml_shape *shape;

    if (i == w->e->events)
        return false;
    w->next++;
    w->event.kind = w->e->kinds[i] & ML_KIND_MASK;
    shape = &ml_shapes[w->event.kind];
    ml_walk_time(w, i);
    ml_walk_context(w, w->e->kinds[i]);
    ml_walk_block(w, shape->bits);
    for (int k = 0; k < shape->args; k++)
        w->args = ml_varint_get(w->args, w->e->args_end, &w->event.args[k]);
    return true;
}

#endif
