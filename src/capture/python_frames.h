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

/* The number has that place. Without the lock, for a number that was given. */
bool ml_python_frame_is(uint32_t number, const struct ml_python_place *place);

/* Has a line: else the interpreter or its compiler made it up. */
bool ml_python_frame_counts(uint32_t number);

/* As ml_python_stack_announce, before it. */
void ml_python_frames_announce(void);

#endif
