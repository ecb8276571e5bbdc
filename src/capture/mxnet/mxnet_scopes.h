/* mxnet_scopes.h: the phase of a training step that a thread of an MXNet program is in.
 *
 * MXNet runs operators later, on its own threads, so the last mark of a phase says nothing about
 * them: the phase is a scope of the thread that asks for the operator. The Python package reports
 * it, and reports blocks and optimizers as it does PyTorch's modules (torch_scopes.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_MXNET_SCOPES_H
#define ML_MXNET_SCOPES_H

#include "phase.h"

/* Each enter has its leave on the same thread. An enter inside another of the same phase adds no
 * scope. */
void ml_mxnet_enter_phase(enum ml_phase phase);
void ml_mxnet_leave_phase(void);

/* The same without marks, called by hooks on MXNet's functions, for programs in C too. If the
 * package has reported the phase, this does nothing. */
void ml_mxnet_push_phase(enum ml_phase phase);
void ml_mxnet_pop_phase(void);

#endif
