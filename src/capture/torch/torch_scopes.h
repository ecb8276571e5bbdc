/* torch_scopes.h: the position of a thread in a PyTorch program: in which modules, in backward, in
 * an optimizer's step.
 *
 * The Python package reports modules and optimizers, the hooks on autograd report backward
 * (torch_autograd.c). Everything applies to the calling thread; nothing fails. Names are those of
 * names.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_TORCH_SCOPES_H
#define ML_TORCH_SCOPES_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler.h"
#include "torch_node_layout.h"

/* Looks up the functions of PyTorch that it needs. Precondition: PyTorch is loaded. Call it once.
 */
void ml_torch_scopes_begin(void);

/* Each enter of these is followed by its leave, whatever happens in between. */
void ml_torch_enter_module(uint32_t name, uint32_t class_name);
void ml_torch_leave_module(void);
void ml_torch_enter_optimizer(uint32_t class_name);
void ml_torch_leave_optimizer(void);

/* Call it before a block is recorded, and when an outermost module has returned: outside of
 * everything else, the thread is in the function of the program that it runs (python_function.h).
 * It ends when the thread enters or leaves anything. */
void ml_torch_note_function(void);

/* A layer inside code that PyTorch's compiler made, which calls no modules. Its name is the full
 * one, or relative to the module that the thread is in, forward or backward. Such code creates no
 * nodes. Each enter is followed by its leave too. */
void ml_torch_enter_layer(uint32_t name, uint32_t class_name, bool is_relative);
void ml_torch_leave_layer(void);

/* Names a module that may never be called, below the outermost one of its model, which may be the
 * same. Does nothing inside a call: a scope there would be below those of the call. */
void ml_torch_define_module(uint32_t root, uint32_t root_class, uint32_t name, uint32_t class_name);

/* Reading a model's weights from a file, or from tensors that came from one. */
void ml_torch_enter_loading(void);
void ml_torch_leave_loading(void);

/* Whether this thread is in no module, no optimizer and no node of backward. */
bool ml_torch_is_outermost(void);

/* Whether this thread has ever been in one. */
extern __thread bool ml_torch_scoped;
static ML_ALWAYS_INLINE bool ml_torch_was_in_scope(void)
{
    return ml_torch_scoped;
}

/* Code of a backward pass that no node runs: of compiled autograd, or called when all nodes have
 * run. Or code that a node runs for another module than the one that created the node. Each enter
 * is followed by its leave. */
void ml_torch_enter_backward_code(void);
void ml_torch_leave_backward_code(void);

/* A whole backward pass, on the thread that asked for it, and one node of its graph, on the thread
 * that runs it: the node's tape and number, and the name of its operator. Each is followed by its
 * leave too; if an exception ends it, through unwound.h. */
void ml_torch_enter_backward(void);
void ml_torch_leave_backward(void);
void ml_torch_enter_node(uint64_t tape, uint64_t number, uint32_t operator_name);
void ml_torch_leave_node(void);

/* The counters of this thread, and of the last that began a backward pass.
 * @return false: PyTorch does not say */
bool ml_torch_counters(struct ml_torch_counter *ret_here, struct ml_torch_counter *ret_backward);

/* Makes every operator of PyTorch a scope on the thread that runs it, for `memledger run --ops`.
 * Costs about a microsecond each. Precondition: PyTorch is loaded. Call it once. */
void ml_torch_operators_begin(void);

/* Whether operators are scopes: in backward each node then is one. */
extern bool ml_torch_operators;

#endif
