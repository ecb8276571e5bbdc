/* phase.h: what a training step is doing, for those who book blocks by it.
 *
 * A thread's own phase counts; where it has none, the process's: backward runs on
 * threads of PyTorch's own, which nobody may have told. "forward" goes on after the
 * outermost module has returned, until backward or the optimizer begins: what a
 * loss function keeps for backward is a feature map as well.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_PHASE_H
#define ML_PHASE_H

#include <stdatomic.h>
#include <stdint.h>

#include "compiler.h"

enum ml_phase {
    ML_PHASE_NONE,
    ML_PHASE_FORWARD,
    ML_PHASE_BACKWARD,
    ML_PHASE_OPTIMIZER,
    ML_PHASES,
};

/* enum ml_phase; set by whoever knows, read when a block is booked. */
extern __thread uint8_t ml_thread_phase;
extern _Atomic uint8_t ml_process_phase;

static ML_ALWAYS_INLINE unsigned ml_phase_now(void)
{
    unsigned phase = ml_thread_phase;

    return phase ? phase : atomic_load_explicit(&ml_process_phase, memory_order_relaxed);
}

#endif
