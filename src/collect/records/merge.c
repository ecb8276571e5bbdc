/* merge.c: one pass over the rings.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "merge.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lifetime_events.h"
#include "losses.h"
#include "record_length.h"
#include "translate.h"

void ml_merge_release(struct ml_merge *m)
{
    ml_vec_release(&m->heap);
}

static void sift_down(struct ml_source **heap, size_t n, size_t i)
{
    struct ml_source *moving = heap[i];

    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= n)
            break;
        if (child + 1 < n && heap[child + 1]->ticks < heap[child]->ticks)
            child++;
        if (moving->ticks <= heap[child]->ticks)
            break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = moving;
}

/* The ring's current end; an impossible position counts as damage. */
static void set_end(struct ml_stage *stage, struct ml_source *s)
{
    /* Pairs with the target's release store: the words up to there are written. */
    s->end = atomic_load_explicit(&s->ring->head, memory_order_acquire);
    if (ML_UNLIKELY(s->end - s->tail > s->mask + 1))
        ml_source_skip(stage, s);
}

static void add_source(struct ml_merge *m, struct ml_stage *stage, struct ml_source *s)
{
    /* Pairs with the target's release stores: tid and name are written. */
    uint32_t state = atomic_load_explicit(&s->ring->state, memory_order_acquire);

    if (state != ML_RING_ACTIVE && state != ML_RING_CLOSED)
        return;
    if (!s->open)
        ml_source_open(stage, s);
    set_end(stage, s);
    /* Without memory for it the ring waits for the next pass. */
    if (ml_source_peek(stage, s) && s->ticks < m->until)
        (void)ml_vec_push(&m->heap, s);
}

static void gather(struct ml_merge *m, struct ml_stage *stage)
{
    ml_vec_clear(&m->heap);
    for (size_t i = 0; i < stage->targets.len; i++) {
        const struct ml_target *t = stage->targets.items[i];
        for (size_t k = 0; k < t->sets.len; k++) {
            struct ml_target_set *set = &t->sets.items[k];
            ml_target_set_look(set);
            for (uint32_t r = 0; r < set->used; r++)
                add_source(m, stage, &set->sources[r]);
        }
    }
    for (size_t i = 0; i < stage->own.len; i++)
        add_source(m, stage, stage->own.items[i]);
    for (size_t i = m->heap.len / 2; i-- > 0;)
        sift_down(m->heap.items, m->heap.len, i);
}

/* Wakes the thread that waits for room in the ring once half of it is free, so that it
 * sleeps and wakes once for that many records and not for each few. */
static void wake_writer(struct ml_source *s)
{
    /* Pairs with the target's store before it sleeps. */
    if (ML_LIKELY(!atomic_load_explicit(&s->ring->waiting, memory_order_seq_cst)))
        return;
    if (atomic_load_explicit(&s->ring->head, memory_order_relaxed) - s->tail > (s->mask + 1) / 2)
        return;
    /* A thread that is about to sleep finds another value there, and does not. */
    atomic_store_explicit(&s->ring->waiting, 0, memory_order_relaxed);
    syscall(SYS_futex, &s->ring->waiting, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* Returns the words read to the target, now and then within a long pass. */
static void publish_tail(const struct ml_stage *stage, struct ml_source *s)
{
    /* Pairs with the target's acquire load: we are done with these words. */
    atomic_store_explicit(&s->ring->tail, s->tail, memory_order_release);
    ml_stage_beat(stage);
    wake_writer(s); /* ml_merge_wake finds threads that this misses */
}

/* Takes records from s while they come before `next`. False when s has no more
 * for this pass. */
static bool take_run(struct ml_merge *m, struct ml_stage *stage, struct ml_source *s, uint64_t next)
{
    uint64_t published = s->tail;
    uint64_t limit = ml_min_u64(m->until, next);
    bool more;

    do {
        if (!ml_source_take_plain(stage, s, limit))
            ml_source_take(stage, s);
        if (s->tail - published > s->mask / 16) {
            publish_tail(stage, s);
            published = s->tail;
        }
        more = ml_source_peek(stage, s) && s->ticks < m->until;
    } while (more && s->ticks <= next);
    publish_tail(stage, s);
    return more;
}

/* The earliest stamp among the others. */
static uint64_t runner_up(struct ml_source *const *heap, size_t n)
{
    uint64_t ticks = n > 1 ? heap[1]->ticks : UINT64_MAX;

    return n > 2 ? ml_min_u64(ticks, heap[2]->ticks) : ticks;
}

uint64_t ml_merge_pass(struct ml_merge *m, struct ml_stage *stage, uint64_t until)
{
    uint64_t words = 0;

    m->until = until;
    gather(m, stage);
    while (m->heap.len) {
        struct ml_source **heap = m->heap.items;
        uint64_t before = heap[0]->tail;
        bool more = take_run(m, stage, heap[0], runner_up(heap, m->heap.len));

        if (!heap[0]->target->own)
            words += heap[0]->tail - before;
        if (!more)
            heap[0] = heap[--m->heap.len];
        if (m->heap.len)
            sift_down(heap, m->heap.len, 0);
    }
    return words;
}

void ml_merge_wake(const struct ml_stage *stage)
{
    for (size_t i = 0; i < stage->targets.len; i++) {
        const struct ml_target *t = stage->targets.items[i];
        for (size_t k = 0; k < t->sets.len; k++) {
            for (uint32_t r = 0; r < t->sets.items[k].used; r++)
                wake_writer(&t->sets.items[k].sources[r]);
        }
    }
}
