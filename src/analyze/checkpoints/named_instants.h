/* named_instants.h: finds the instants of a trace that have a name, all in one pass: the peak and
 * the end of each step, and each refusal. They are those that instant.h finds one at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_NAMED_INSTANTS_H
#define ML_ANALYZE_NAMED_INSTANTS_H

#include "checkpoints.h"
#include "step_track.h"

struct ml_step_instants {
    uint64_t number;
    bool found;        /* else it was replaced by a later one, or is not a step */
    uint64_t found_in; /* the index of the step, from 1 */
    uint64_t peak_bytes;
    struct ml_moment peak, end;
};

struct ml_refusal_instant {
    struct ml_moment at;
    uint64_t bytes; /* requested */
};

/* Initialise only track.replay. */
struct ml_named_instants {
    struct ml_step_track track;
    ML_VEC(struct ml_step_instants) steps; /* by their first mark */
    ML_VEC(struct ml_refusal_instant) refusals;
    struct ml_map step_index; /* number -> index */
    uint64_t inside;          /* 1 + index of the step that is running; 0: none */
};

/* Whether the next two must be called for the event. */
static inline bool ml_named_instants_wants(const struct ml_named_instants *n,
                                           const struct ml_event *event)
{
    return n->inside > 0 || event->kind == ML_MARK || event->kind == ML_OOM ||
           event->kind == ML_PROCESS_END;
}

/* Call the first before the replay reads the event, the second after it. @return 0 or -ENOMEM */
int ml_named_instants_before(struct ml_named_instants *n, const struct ml_event *event);
void ml_named_instants_after(struct ml_named_instants *n, struct ml_moment now);

/* Call it after the last event. */
void ml_named_instants_end(struct ml_named_instants *n);
void ml_named_instants_release(struct ml_named_instants *n);

#endif
