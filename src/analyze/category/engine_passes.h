/* engine_passes.h: the progress of an engine that runs operators later than the program requests
 * them, on its own threads.
 *
 * The program marks phases too early for this: when it marks backward, the engine may still be in
 * the middle of forward. Here the phase is that of the operators that run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_ENGINE_PASSES_H
#define ML_ANALYZE_ENGINE_PASSES_H

#include <stdint.h>

#include "passes.h"
#include "scope_facts.h"

/* For one process. All zero bytes: nothing has run yet. */
struct ml_engine_passes {
    uint8_t phase; /* enum ml_phase: forward or backward, the latest of the two */
    struct ml_passes forwards, backwards;
};

/* An operator starts to run in that phase; `next_ordinal` is that of the next allocation. */
static inline void ml_engine_passes_run(struct ml_engine_passes *p, enum ml_phase phase,
                                        uint64_t next_ordinal)
{
    if (phase == p->phase || (phase != ML_PHASE_FORWARD && phase != ML_PHASE_BACKWARD))
        return;
    p->phase = (uint8_t)phase;
    ml_passes_begin(phase == ML_PHASE_FORWARD ? &p->forwards : &p->backwards, next_ordinal);
}

#endif
