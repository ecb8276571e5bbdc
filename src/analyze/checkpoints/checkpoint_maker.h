/* checkpoint_maker.h: reads a trace once for its categories and once for its live table, and
 * writes checkpoints.
 *
 * A checkpoint is due after 100,000 events, later if the live table is large: all sections together
 * may have only a share of the trace's bytes. It waits for the begin of a step. It has only
 * the blocks that differ, unless the ones to read before it have grown larger than a whole one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_CHECKPOINT_MAKER_H
#define ML_ANALYZE_CHECKPOINT_MAKER_H

#include "block_write.h"
#include "progress.h"
#include "trace.h"

struct ml_checkpoint_opts {
    uint64_t every_events;        /* 0: as described above */
    double share;                 /* of the trace's bytes, with pyramids; 0: 4.7 % */
    const char *maker;            /* says which program made them; NULL: nothing */
    struct ml_progress *progress; /* NULL: not wanted */
};

/* Writes sections, but neither settings nor the end of the file.
 * @return 0; -EINVAL if the times of the trace do not ascend: it cannot have checkpoints; or
 *         another negative errno */
int ml_checkpoints_make(const struct ml_trace *trace, const struct ml_checkpoint_opts *opts,
                        struct ml_block_writer *out, struct ml_error *err);

#endif
