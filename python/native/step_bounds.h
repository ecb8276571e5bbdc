/* step_bounds.h: where one step of a program ends and the next begins.
 *
 * Each step of the leading optimizer ends a step: of the one that made its first step
 * last, since programs with several take them in turn, or of another that has made
 * several since without it. While an optimizer that was made has not come yet, the
 * first step of another ends none. A program without an optimizer
 * begins a step with each call of an outermost module. Once the program tells of
 * steps itself, nobody else does.
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
