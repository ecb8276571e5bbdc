/* python_frames.h: numbers for places in Python code, known to the collector.
 *
 * A place is an instruction; its frame has the function, the file and the line. Unless a function
 * says otherwise, the caller holds the lock of the stacks' tables.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_PYTHON_FRAMES_H
#define ML_PYTHON_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "python_walk.h"

/* The place's number; its frame has been announced. 0 when there is no room. */
uint32_t ml_python_frame(const struct ml_python *py, const struct ml_python_place *place);

/* Whether the numbers denote those places. Needs no lock. Precondition: the numbers have been
 * assigned. */
bool ml_python_frames_are(const uint32_t *numbers, const struct ml_python_place *places,
                          uint32_t n);

/* Whether it has a line. Otherwise the interpreter or its compiler generated the frame. */
bool ml_python_frame_counts(uint32_t number);

/* Like ml_python_stack_announce; call it before that. */
void ml_python_frames_announce(void);

#endif
