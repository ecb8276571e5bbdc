/* step_bounds.h: decides where one step of a program ends and the next begins.
 *
 * Each step of the leading optimizer ends a step of the program. The leader is the optimizer
 * that made its first step last, because programs with several run them in turn, or another one
 * that has since made several steps without the leader. While an existing optimizer has not
 * made a step yet, the first step of another does not end one. In a program without an
 * optimizer, each call of an outermost module begins a step. Once the program reports steps
 * itself, only those count.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_STEP_BOUNDS_H
#define ML_STEP_BOUNDS_H

#include "native.h"

#include <stdbool.h>

/* An outermost module is about to be called.
 * @return whether it is the first since a step began */
bool ml_steps_note_call(void);

void ml_steps_note_optimizer(PyObject *optimizer);

#endif
