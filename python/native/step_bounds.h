/* step_bounds.h: decides where one step of a program ends and the next begins.
 *
 * Each step of the leading optimizer ends a step of the program. The leader is the optimizer
 * that made its first step last, because programs with several run them in turn, or another one
 * that has since made several steps without the leader. While an existing optimizer has not
 * made a step yet, the first step of another does not end one. In a program without an
 * optimizer, each call of an outermost module begins a step. Once the program reports steps
 * itself, only those count.
 *
 * An evaluation between two steps is part of neither. It is recognised by its calls:
 *  - of a model that was trained in training mode and is in evaluation mode now, or
 *  - without gradients, the second of a trained model in this step. One alone may belong to the
 *    step, such as that of the generator of a GAN.
 * A step begins only with a call that trains, unless one has been part of it already. A model that
 * is never trained, such as a teacher, changes nothing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_STEP_BOUNDS_H
#define ML_STEP_BOUNDS_H

#include "native.h"

#include <stdbool.h>

/* What the calls of an outermost module have been for. All zero bytes: it was not called yet. */
struct ml_call_history {
    bool trained;         /* called with gradients */
    bool trained_in_mode; /* and in training mode */
    uint64_t quiet_step;  /* of its last call without gradients: how many had begun */
};

/* An outermost module is about to be called.
 * @module   NULL: not one of PyTorch's
 * @history  its history, NULL for NULL
 * @return   whether it is the first call since a step began */
bool ml_steps_note_call(PyObject *module, struct ml_call_history *history);

/* Backward is about to run: the calls before it were no evaluation. */
void ml_steps_note_backward(void);

void ml_steps_note_optimizer(PyObject *optimizer);

#endif
