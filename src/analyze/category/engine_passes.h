/* engine_passes.h: how far the operators of an engine have come that runs them later than
 * the program asks for them, on threads of its own.
 *
 * Marks of phases are the program's, and come too early: when backward begins there, the
 * engine may be in the middle of forward. Here the phase is that of the operators that run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_ENGINE_PASSES_H
#define ML_ANALYZE_ENGINE_PASSES_H

#include <stdint.h>

#include "passes.h"
#include "scope_facts.h"

/* Of a process. All zero bytes is one that has not begun. */
struct ml_engine_passes {
    uint8_t phase; /* enum ml_phase: forward or backward, whichever came last */
    struct ml_passes forwards, backwards;
};

/* An operator begins to run in that phase; the next allocation has that ordinal. */
static inline void ml_engine_passes_run(struct ml_engine_passes *p, enum ml_phase phase,
                                        uint64_t next_ordinal)
{
    if (phase == p->phase || (phase != ML_PHASE_FORWARD && phase != ML_PHASE_BACKWARD))
        return;
    p->phase = (uint8_t)phase;
    ml_passes_begin(phase == ML_PHASE_FORWARD ? &p->forwards : &p->backwards, next_ordinal);
}

#endif
