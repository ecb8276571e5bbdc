/* canvas_parts.h: definitions that the writers of a canvas share. Only they include it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REPORT_CANVAS_PARTS_H
#define ML_REPORT_CANVAS_PARTS_H

#include "canvas.h"

#define ML_DASH_PARTS 6
#define ML_HATCH_TILE_PX 8 /* period of a hatch */
#define ML_HATCH_OPACITY 0.32
#define ML_HALO_PX 4

/* Red, green, blue. */
uint32_t ml_ink_rgb(enum ml_ink ink, bool dark);

/* Lengths of the strokes and gaps of a dash, 0 after the last; all 0: no gaps. */
extern const double ml_dash_lengths[ML_DASHES][ML_DASH_PARTS];

/* One tile of a hatch: lines {x0, y0, x1, y1} in it. */
struct ml_hatch_line {
    double x0, y0, x1, y1;
};
const struct ml_hatch_line *ml_hatch_lines(enum ml_hatch hatch, size_t *ret_count);

int ml_canvas_to_svg(const struct ml_canvas *canvas, bool dark, struct ml_buf *out);
int ml_canvas_to_cairo(const struct ml_canvas *canvas, const struct ml_picture_opts *opts,
                       struct ml_buf *out, struct ml_error *err);

#endif
