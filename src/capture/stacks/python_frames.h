/* python_frames.h: numbers for places in Python code, as the collector knows them.
 *
 * A place is an instruction; its frame has the function, the file and the line. The
 * caller holds the lock of the stacks' tables, but for what says otherwise.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_PYTHON_FRAMES_H
#define ML_PYTHON_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "python_walk.h"

/* The place's number, after its frame was announced; 0 when there is no room. */
uint32_t ml_python_frame(const struct ml_python *py, const struct ml_python_place *place);

/* The numbers have those places. Without the lock, for numbers that were given. */
bool ml_python_frames_are(const uint32_t *numbers, const struct ml_python_place *places,
                          uint32_t n);

/* Has a line: else the interpreter or its compiler made it up. */
bool ml_python_frame_counts(uint32_t number);

/* As ml_python_stack_announce, before it. */
void ml_python_frames_announce(void);

#endif
