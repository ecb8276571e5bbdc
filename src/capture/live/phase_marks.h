/* phase_marks.h: the phase that the process is in (forward, backward, optimizer), told
 * by whoever knows it: PyTorch's scopes, MXNet's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_PHASE_MARKS_H
#define ML_PHASE_MARKS_H

/* Marks a phase that the process was not in before; "" is none. */
void ml_mark_phase(const char *name);

/* The phase as a scope of this thread, for the caller to pop. */
void ml_push_phase(const char *name);

#endif
