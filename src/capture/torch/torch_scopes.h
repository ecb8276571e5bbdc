/* torch_scopes.h: where a thread is in a PyTorch program: in which modules, in
 * backward, in an optimizer's step.
 *
 * Modules and optimizers are told by the Python package, backward by the hooks on
 * autograd (torch_autograd.c). All of it is of the calling thread; nothing fails.
 * Names are those of names.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TORCH_SCOPES_H
#define ML_TORCH_SCOPES_H

#include <stdbool.h>
#include <stdint.h>

#include "torch_node_layout.h"

/* Looks for what is needed of PyTorch, which must be loaded. Once is enough. */
void ml_torch_scopes_begin(void);

/* Each enter of these has its leave, whatever happens in between. */
void ml_torch_enter_module(uint32_t name, uint32_t class_name);
void ml_torch_leave_module(void);
void ml_torch_enter_optimizer(uint32_t class_name);
void ml_torch_leave_optimizer(void);

/* Whether this thread is in no module, no optimizer and no node of backward. */
bool ml_torch_is_outermost(void);

/* A whole backward pass, on the thread that asked for it, and one node of its graph,
 * on whatever thread runs it: the node's tape and number, and the name of its
 * operator. Each has its leave too; where an exception ends it, unwound.h tells. */
void ml_torch_enter_backward(void);
void ml_torch_leave_backward(void);
void ml_torch_enter_node(uint64_t tape, uint64_t number, uint32_t operator_name);
void ml_torch_leave_node(void);

/* The counters of this thread, and of the last that began a backward pass.
 * @return false: PyTorch does not tell */
bool ml_torch_counters(struct ml_torch_counter *ret_here, struct ml_torch_counter *ret_backward);

/* Whether operators shall be scopes: in backward each node then is one. */
extern bool ml_torch_operators;

#endif
