/* block_types.h: the types of the numbers in live blocks, such as "float32", where a trace says
 * them: marks of kind ML_MARK_TYPE tell the type of the blocks that a thread allocates after them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_BLOCK_TYPES_H
#define ML_ANALYZE_BLOCK_TYPES_H

#include "map.h"
#include "replay.h"
#include "trace.h"

struct ml_block_types {
    const struct ml_trace *trace;
    struct ml_map threads; /* a thread → a string, the type of its next blocks */
    struct ml_map blocks;  /* a block → a string */
    uint64_t events;       /* left to read */
};

/* Reads the trace once, up to an event.
 * @events  the number of events up to that one, including it
 * @ret     to be released, after a failure too
 * @return 0 or negative errno */
int ml_block_types(const struct ml_trace *trace, uint64_t events, struct ml_block_types *ret,
                   struct ml_error *err);
void ml_block_types_release(struct ml_block_types *types);

/* @replay  a replay of the same trace up to the same event
 * @return the type, or "" if it is not known; valid as long as the trace */
const char *ml_block_type(const struct ml_block_types *types, const struct ml_replay *replay,
                          const struct ml_block *block);

#endif
