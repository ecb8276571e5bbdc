/* breakdown_keys.h: a block's value for each key: a number while blocks are added up, a name for
 * the report. Only the breakdown includes it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_BREAKDOWN_KEYS_H
#define ML_ANALYZE_BREAKDOWN_KEYS_H

#include "breakdown.h"
#include "modules.h"

/* @return the number, or -ENOMEM */
int64_t ml_key_of(enum ml_key key, const struct ml_replay *replay, struct ml_modules *modules,
                  const struct ml_block *block);

/* The name of a number, "" for none; owned by the trace or the arena, or a constant.
 * @return NULL: out of memory */
const char *ml_key_text(enum ml_key key, const struct ml_replay *replay,
                        const struct ml_modules *modules, uint32_t number, struct ml_arena *arena);

/* The frame of the stack that made the request and its two callers, "" for 0.
 * @also   the index of one more frame to name, from the innermost; ignored if it is among the three
 * @return NULL: out of memory */
const char *ml_stack_key_text(const struct ml_trace *trace, uint32_t number, size_t also,
                              struct ml_arena *arena);

/* If groups by stack have the same name, adds the frame in which they differ to it.
 * @return 0 or -ENOMEM */
int ml_breakdown_tell_stacks_apart(const struct ml_trace *trace, struct ml_breakdown *breakdown);

/* The innermost frame of the program's own code that has a line, numbered from 1; 0: there is none.
 * In a stack with Python frames only these count. */
int64_t ml_own_line(const struct ml_trace *trace, uint32_t stack);

/* "model/gpt.py:12 forward", "" for 0. @return NULL: out of memory */
const char *ml_line_text(const struct ml_trace *trace, uint32_t number, struct ml_arena *arena);

#endif
