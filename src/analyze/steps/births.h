/* births.h: what is remembered of each live block's allocation, to judge its life when it ends. The
 * analyses that replay a trace call these from the replay's own callbacks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_BIRTHS_H
#define ML_ANALYZE_BIRTHS_H

#include "replay.h"
#include "temporary.h"
#include "thread_counts.h"

struct ml_birth {
    uint64_t count; /* allocations of its thread up to this one */
    uint64_t bytes;
    bool counted; /* selected, and not taken yet */
};

/* Zeroes and a replay are an empty one. */
struct ml_births {
    const struct ml_replay *replay;
    ML_VEC(struct ml_birth) list; /* parallel to the entries of the live table */
    struct ml_thread_counts threads;
};

void ml_births_release(struct ml_births *births);

/* When a block is allocated. @return 0 or -ENOMEM */
int ml_births_open(struct ml_births *births, const struct ml_block *block, bool counted);

/* The rest of a block that was freed in part is not a new allocation. */
void ml_births_split(struct ml_births *births, const struct ml_block *rest);

/* The block's allocation, once, if it counts; else NULL. Valid until the next one. */
const struct ml_birth *ml_births_take(struct ml_births *births, const struct ml_block *block);

/* Whether a block that ends at this time lived no longer than the limit.
 * @return 1, 0, or -ENOMEM */
int ml_births_is_short(struct ml_births *births, const struct ml_block *block,
                       const struct ml_birth *birth, uint64_t end_ns,
                       const struct ml_temporary_limit *limit);

#endif
