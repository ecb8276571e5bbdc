/* phase.h: what a training program is doing.
 *
 * A phase reaches the trace as a mark, for the whole process from then on, or as a scope of one
 * thread; both carry its name. A program may use other names, which mean nothing to the analysis.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_PHASE_H
#define ML_PHASE_H

#include <stddef.h>

enum ml_phase {
    ML_PHASE_NONE,
    ML_PHASE_FORWARD,
    ML_PHASE_BACKWARD,
    ML_PHASE_OPTIMIZER,
    ML_PHASE_RECOMPUTE, /* forward again, within backward */
    ML_PHASE_LOADING,   /* no part of a step: a model gets its weights from a file */
};

#define ML_PHASES (ML_PHASE_LOADING + 1)

/* The phase of that name; ML_PHASE_NONE for "" and for any other name. */
enum ml_phase ml_phase_of_name(const char *name, size_t len);

/* "forward", "backward", …; "" for none. */
const char *ml_phase_name(enum ml_phase phase);

#endif
