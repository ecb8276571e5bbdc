/* flame_boxes.c: see flame_boxes.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flame_boxes.h"

#define ROW_PX 22
#define ROW_MIN_PX 8
#define NARROWEST_PX 0.4 /* narrower boxes are left out */
#define LETTERS_PX 12

void ml_flame_place(struct ml_flame_boxes *f, size_t levels, double y)
{
    double room;

    f->levels = levels;
    f->top = y;
    f->row_px = ROW_PX;
    if (f->opts->height == 0) {
        f->canvas->height = (unsigned)(y + (double)f->levels * ROW_PX + ML_PLOT_MARGIN_PX);
        return;
    }
    room = ((double)f->opts->height - y - ML_PLOT_MARGIN_PX) / (double)f->levels;
    f->row_px = room < ROW_MIN_PX ? ROW_MIN_PX : room > 2 * ROW_PX ? 2 * ROW_PX : room;
    if (!f->icicle)
        f->top = (double)f->opts->height - ML_PLOT_MARGIN_PX - f->row_px * (double)f->levels;
}

double ml_flame_width(const struct ml_flame_boxes *f, uint64_t part)
{
    return f->total ? (f->right - f->left) * (double)part / (double)f->total : 0;
}

void ml_flame_box(const struct ml_flame_boxes *f, size_t level, double x, double width,
                  struct ml_pen pen, const char *name, const char *hover)
{
    size_t row = f->icicle ? level : f->levels - 1 - level;
    double y = f->top + (double)row * f->row_px;
    const struct ml_lettering letters = {.size = LETTERS_PX};

    if (width < NARROWEST_PX)
        return;
    pen.hover = hover;
    pen.stroke = ML_INK_PAPER;
    pen.width = width < 4 ? 0.3 : 1;
    ml_draw_box(f->canvas, &pen, x, y, width, f->row_px);
    if (f->row_px >= LETTERS_PX + 2)
        ml_draw_text_within(f->canvas, &letters, x + 4, y + f->row_px / 2 + LETTERS_PX * 0.36,
                            width - 6, name);
}
