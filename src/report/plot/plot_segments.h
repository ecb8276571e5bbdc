/* plot_segments.h: the map of segments: one row each, its blocks by category, holes
 * in white. All rows have one width; the larger a segment, the higher its row.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REPORT_PLOT_SEGMENTS_H
#define ML_REPORT_PLOT_SEGMENTS_H

#include "plot_frame.h"
#include "segment_map.h"

/* The height follows from the number of segments unless one is asked for. */
void ml_plot_segments(struct ml_canvas *canvas, const struct ml_segment_map *map,
                      const struct ml_plot_opts *opts);

#endif
