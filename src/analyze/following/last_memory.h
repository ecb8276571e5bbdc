/* last_memory.h: the last moment of an ended recording that has live memory to show.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_LAST_MEMORY_H
#define ML_ANALYZE_LAST_MEMORY_H

#include "checkpoints.h"

/* The end of the program, as `--at end` of the reports means it: the blocks that were never freed
 * are live.
 * @return 0 or negative errno; -ENODATA: the trace cannot have allocations */
int ml_end_of_program(const char *path, struct ml_moment *ret, struct ml_error *err);

/* The last event up to that number after which memory was live; event 0: there was none.
 * @return 0 or negative errno */
int ml_last_memory(const char *path, uint64_t until_event, struct ml_moment *ret,
                   struct ml_error *err);

#endif
