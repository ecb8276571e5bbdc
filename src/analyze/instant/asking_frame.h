/* asking_frame.h: the function, source file and library that requested a block, as numbers that
 * identify them: strings of the trace, 0 for none.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_ASKING_FRAME_H
#define ML_ANALYZE_ASKING_FRAME_H

#include "arena.h"
#include "trace.h"

/* The stack from the frame that made the request outwards; all of it if every frame only passes
 * calls on, see ml_stack_asker. */
uint32_t ml_asking_stack(const struct ml_trace *trace, uint32_t stack);

/* Of the frame that made the request. */
int64_t ml_asking_function(const struct ml_trace *trace, uint32_t stack);
int64_t ml_asking_file(const struct ml_trace *trace, uint32_t stack);
int64_t ml_asking_library(const struct ml_trace *trace, uint32_t stack);

/* Whether the function of the frame gets its name when the recording ends. Until then each call is
 * a function of its own here. */
bool ml_frame_awaits_name(const struct ml_trace *trace, const struct ml_frame *frame);

/* Of any frame. A function whose name is unknown has a number for its library. */
uint32_t ml_frame_function(const struct ml_trace *trace, const struct ml_frame *frame);

/* "main", "(unknown in libfoo.so)", "libfoo.so+0x1234" for one that awaits its name, "" for 0.
 * @return NULL: out of memory */
const char *ml_function_text(const struct ml_trace *trace, uint32_t number, struct ml_arena *arena);

#endif
