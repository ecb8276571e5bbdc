/* ended_threads.c: see ended_threads.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ended_threads.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lifetime_events.h"
#include "losses.h"
#include "place.h"

static bool thread_exists(const struct ml_source *s)
{
    return s->target->foreign ||
           !syscall(SYS_tgkill, s->target->pid, __atomic_load_n(&s->ring->tid, __ATOMIC_RELAXED),
                    0) ||
           errno != ESRCH;
}

/* Frees a ring once its thread has ended or is found dead. */
static void close_if_ended(struct ml_stage *stage, struct ml_source *s, bool check_threads)
{
    uint32_t state;

    if (!s->open)
        return;
    ml_source_note_lost(stage, s);
    ml_source_note_name(stage, s);
    /* The order matters: a ring that is closed now gets no more records, so
     * the next load sees all of them. */
    state = atomic_load_explicit(&s->ring->state, memory_order_acquire);
    if (state == ML_RING_ACTIVE && (s->target->gone || (check_threads && !thread_exists(s))))
        state = ML_RING_CLOSED;
    if (state != ML_RING_CLOSED ||
        atomic_load_explicit(&s->ring->head, memory_order_acquire) != s->tail)
        return;
    ml_source_close(stage, s);
    /* Pairs with the acquire exchange of the claiming thread. */
    atomic_store_explicit(&s->ring->state, ML_RING_FREE, memory_order_release);
}

bool ml_target_close_ended(struct ml_stage *stage, struct ml_target *t, bool check_threads)
{
    bool drained = true;

    for (size_t k = 0; k < t->sets.len; k++) {
        for (uint32_t r = 0; r < t->sets.items[k].used; r++) {
            struct ml_source *s = &t->sets.items[k].sources[r];
            close_if_ended(stage, s, check_threads);
            drained &= !s->open;
        }
    }
    ml_target_note_lost(stage, t);
    ml_place_note(t, stage->dict);
    ml_role_note(t, stage->dict);
    return drained;
}
