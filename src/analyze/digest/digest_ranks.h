/* digest_ranks.h: the ranks of a trace: their peaks, steps and modules. Only this room includes it.
 *
 * Two passes: the first finds the peak of each rank and of each of its steps, the second adds up
 * the blocks that were live at these moments.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_DIGEST_RANKS_H
#define ML_ANALYZE_DIGEST_RANKS_H

#include "digest.h"
#include "process_ranks.h"
#include "replay.h"

/* Fills in digest->modules and, of each rank in digest->ranks, its memory: devices, steps, curve.
 * @at_end  a replay that was released or never used; after success the whole trace, without its
 *          blocks; to be released, after a failure too
 * @return 0 or negative errno */
int ml_digest_ranks(const struct ml_trace *trace, const struct ml_rank_table *table,
                    const struct ml_classes *classes, struct ml_replay *at_end,
                    struct ml_digest *digest, struct ml_error *err);

#endif
