/* stage.h: the state that turning records of rings into events of the trace needs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_STAGE_H
#define ML_STAGE_H

#include <stdbool.h>

#include "target.h"
#include "growth.h"
#include "heartbeat.h"
#include "ticks.h"
#include "trace_writer.h"

struct ml_stage {
    struct ml_dict *dict;
    struct ml_trace_writer *writer;
    struct ml_ticks *ticks;
    _Atomic uint64_t *heartbeat;        /* raised now and then in a long pass */
    uint64_t start_wall_ns;             /* wall-clock time of time 0 */
    uint64_t heap_sampled, heap_least;  /* of malloc's spaces: see defs.h */
    uint64_t lost;                      /* records that targets dropped, recorded in the trace */
    uint64_t not_followed;              /* of them: blocks and objects, likewise */
    uint64_t names_folded;              /* uses of names, likewise */
    uint64_t spaces_refused;            /* likewise */
    uint64_t details_lost;              /* stacks, libraries, scopes and labels, likewise */
    uint64_t unkept_seen;               /* of dict->unkept, already in the trace */
    uint64_t own_events;                /* of no target: ends and losses */
    uint64_t refusals;                  /* events of targets: out of memory */
    uint64_t samples;                   /* that the collector took itself */
    ML_VEC(struct ml_target *) targets; /* all that are being recorded */
    ML_VEC(struct ml_source *) own;     /* rings of the collector's own threads */
    struct ml_growth *growth;           /* NULL: not wanted */
    struct ml_handed_files *handed;     /* files that targets opened; NULL: none come */
};

static inline void ml_stage_beat(const struct ml_stage *stage)
{
    ml_heartbeat_raise(stage->heartbeat);
}

/* Writes an event of the target, also into its profile if it has one. */
static inline void ml_stage_emit(struct ml_stage *stage, struct ml_target *t,
                                 const struct ml_event *ev)
{
    ml_trace_writer_event(stage->writer, ev);
    if (ML_UNLIKELY(t->profile && ml_profile_active(t->profile)))
        ml_profile_event(t->profile, ev);
}

#endif
