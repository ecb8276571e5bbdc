/* losses.c: see losses.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "losses.h"

void ml_stage_emit_lost(struct ml_stage *stage, uint32_t thread, uint64_t count,
                        enum ml_lost_reason reason)
{
    struct ml_event ev = {.kind = ML_LOST,
                          .time_ns = stage->ticks->ns,
                          .thread = thread,
                          .args = {count, stage->ticks->old_ns, reason}};

    stage->lost += ml_lost_is_events(reason) ? count : 0;
    stage->names_folded += reason == ML_LOST_NAMES_FOLDED ? count : 0;
    stage->spaces_refused += reason == ML_LOST_SPACES ? count : 0;
    stage->own_events++;
    ml_trace_writer_event(stage->writer, &ev);
}

void ml_stage_note_lost(struct ml_stage *stage, uint64_t count)
{
    if (count)
        ml_stage_emit_lost(stage, 0, count, ML_LOST_RING_FULL);
}

void ml_stage_note_unkept(struct ml_stage *stage)
{
    uint64_t unkept = stage->dict->unkept - stage->unkept_seen;

    if (unkept)
        ml_stage_emit_lost(stage, 0, unkept, ML_LOST_NAMES_FOLDED);
    stage->unkept_seen += unkept;
}

/* The end of any of these may have been lost. */
static void forget_pending(struct ml_source *s)
{
    ml_works_forget_all(&s->target->works);
    ml_expected_forget_all(&s->target->expected);
    s->outputs.count = 0;
}

void ml_source_note_lost(struct ml_stage *stage, struct ml_source *s)
{
    uint64_t lost = atomic_load_explicit(&s->ring->lost, memory_order_relaxed);

    if (lost <= s->lost_seen)
        return;
    ml_stage_emit_lost(stage, s->thread, lost - s->lost_seen, ML_LOST_RING_FULL);
    forget_pending(s);
    s->lost_seen = lost;
}

/* The increase of one of the target's counters. */
static void note_counter(struct ml_stage *stage, _Atomic uint64_t *counter, uint64_t *seen,
                         enum ml_lost_reason reason)
{
    uint64_t lost = atomic_load_explicit(counter, memory_order_relaxed);

    if (lost <= *seen)
        return;
    ml_stage_emit_lost(stage, 0, lost - *seen, reason);
    *seen = lost;
}

void ml_target_note_lost(struct ml_stage *stage, struct ml_target *t)
{
    for (size_t i = 0; i < t->sets.len; i++) {
        struct ml_target_set *set = &t->sets.items[i];
        note_counter(stage, &set->shared->lost, &set->lost_seen, ML_LOST_RING_FULL);
        note_counter(stage, &set->shared->not_followed, &set->not_followed_seen,
                     ML_LOST_NOT_FOLLOWED);
        note_counter(stage, &set->shared->names_folded, &set->names_folded_seen,
                     ML_LOST_NAMES_FOLDED);
        note_counter(stage, &set->shared->spaces_refused, &set->spaces_refused_seen,
                     ML_LOST_SPACES);
        note_counter(stage, &set->shared->details_lost, &set->details_lost_seen, ML_LOST_DETAILS);
    }
    if (t->works.dropped + t->expected.dropped)
        ml_stage_emit_lost(stage, 0, t->works.dropped + t->expected.dropped, ML_LOST_DETAILS);
    t->works.dropped = t->expected.dropped = 0;
}
