/* lifetime_events.c: see lifetime_events.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "lifetime_events.h"

#include <string.h>

#include "losses.h"
#include "source_scopes.h"

void ml_source_open(struct ml_stage *stage, struct ml_source *s)
{
    uint64_t fields[ML_DEF_FIELDS] = {
        [ML_THREAD_PROCESS] = s->target->process,
        [ML_THREAD_TID] = __atomic_load_n(&s->ring->tid, __ATOMIC_RELAXED),
        [ML_THREAD_START_NS] = stage->ticks->ns,
    };
    char name[sizeof(s->ring->name)]; /* the target may change the shared one */

    for (size_t i = 0; i < sizeof(name); i++)
        name[i] = __atomic_load_n(&s->ring->name[i], __ATOMIC_RELAXED);
    fields[ML_THREAD_NAME] = ml_dict_string(stage->dict, name, strnlen(name, sizeof(name)));
    s->thread = ml_dict_add(stage->dict, ML_DEF_THREAD, fields);
    ml_source_leave_scopes(s);
    s->open = true;
    s->times_named = 0;
    ml_source_note_name(stage, s);
}

void ml_source_note_name(struct ml_stage *stage, struct ml_source *s)
{
    char name[sizeof(s->ring->given.text)];

    if (ml_given_name_get(&s->ring->given, &s->times_named, name))
        ml_dict_thread_name(stage->dict, s->thread, name);
}

void ml_source_close(struct ml_stage *stage, struct ml_source *s)
{
    /* It has no time: the writer uses that of the last event. */
    struct ml_event ev = {.kind = ML_THREAD_END, .thread = s->thread};

    ml_source_note_lost(stage, s);
    ml_source_note_name(stage, s);
    stage->own_events++;
    ml_stage_emit(stage, s->target, &ev);
    s->open = false;
}

void ml_target_note_end(struct ml_stage *stage, struct ml_target *t, uint64_t status)
{
    struct ml_event ev = {
        .kind = ML_PROCESS_END, .time_ns = t->end_ns, .args = {t->process, status}};

    stage->own_events++;
    ml_stage_emit(stage, t, &ev);
}
