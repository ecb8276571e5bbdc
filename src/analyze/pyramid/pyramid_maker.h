/* pyramid_maker.h: reads a trace and writes its pyramids: one of all devices together and, if there
 * are several, one of each.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_PYRAMID_MAKER_H
#define ML_ANALYZE_PYRAMID_MAKER_H

#include "bands.h"
#include "block_write.h"
#include "progress.h"

/* Writes sections, but neither settings nor the end of the file. A trace without checkpoints, see
 * ml_trace_attach_checkpoints, takes several times as long.
 * @progress  NULL: not wanted
 * @return 0 or negative errno */
int ml_pyramids_make(const struct ml_trace *trace, struct ml_progress *progress,
                     struct ml_block_writer *out, struct ml_error *err);

#endif
