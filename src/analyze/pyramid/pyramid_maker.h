/* pyramid_maker.h: reads a trace and writes its pyramid.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_ANALYZE_PYRAMID_MAKER_H
#define ML_ANALYZE_PYRAMID_MAKER_H

#include "bands.h"
#include "block_write.h"

/* Writes sections, but neither settings nor the end of the file.
 * @device  "cuda:0", "0" for short, "cpu"; NULL: all
 * @return 0 or negative errno */
int ml_pyramid_make(const struct ml_trace *trace, enum ml_bands_by by, const char *device,
                    struct ml_block_writer *out, struct ml_error *err);

#endif
