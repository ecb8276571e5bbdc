/* current_phase.h: the phase (phase.h) that the program is in now.
 *
 * Two readers: the table of live blocks counts blocks by phase, and the trace gets it as marks and
 * scopes. The table uses the thread's own phase, or the process's if the thread has none: PyTorch
 * runs backward on its own threads. "forward" continues after the outermost module has returned,
 * until backward or the optimizer begins: memory that a loss function keeps for backward is a
 * feature map as well.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CURRENT_PHASE_H
#define ML_CURRENT_PHASE_H

#include <stdatomic.h>
#include <stdint.h>

#include "compiler.h"
#include "phase.h"

/* enum ml_phase, for the table of live blocks. */
extern __thread uint8_t ml_thread_phase;
extern _Atomic uint8_t ml_process_phase;

static ML_ALWAYS_INLINE unsigned ml_phase_now(void)
{
    unsigned phase = ml_thread_phase;

    return phase ? phase : atomic_load_explicit(&ml_process_phase, memory_order_relaxed);
}

/* Marks the phase in the trace, unless the process is in it already. */
void ml_mark_phase(enum ml_phase phase);

/* Pushes the phase as a scope of this thread; the caller pops it. */
void ml_push_phase(enum ml_phase phase);

#endif
