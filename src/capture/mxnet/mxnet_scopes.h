/* mxnet_scopes.h: which phase of a training step a thread of an MXNet program is in.
 *
 * MXNet runs operators later, on threads of its own, so the last mark of a phase says
 * nothing of them: the phase is a scope of the thread that asks for the operator. The
 * Python package tells; blocks and optimizers it tells as it does PyTorch's modules
 * (torch_scopes.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_MXNET_SCOPES_H
#define ML_MXNET_SCOPES_H

#include "phase.h"

/* Each enter has its leave on the same thread. One in another of the same phase is no
 * scope of its own. */
void ml_mxnet_enter_phase(enum ml_phase phase);
void ml_mxnet_leave_phase(void);

/* The same without marks, by MXNet's own functions: a program in C has them too. Where
 * the package has told the phase, it is not told again. */
void ml_mxnet_push_phase(enum ml_phase phase);
void ml_mxnet_pop_phase(void);

#endif
