/* plot_lifetimes.c: see plots.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "plots.h"

#include <math.h>

#include "category_columns.h"
#include "memledger/memledger.h"

#define ROW_PX 19
#define ROW_MIN_PX 5
#define LETTERS_PX 12
#define NAMES_SHARE 0.34 /* of the width, at most */
#define SHORTEST_PX 1.5

struct chart {
    struct ml_canvas *canvas;
    const struct ml_lifetimes *lifetimes;
    const struct ml_plot_opts *opts;
    struct ml_plot_area frame;
    double row_px;
};

static const char *name_of(const struct chart *c, const struct ml_lifetime *l)
{
    if (*l->label)
        return l->label;
    if (*l->module)
        return l->module;
    if (*l->line)
        return l->line;
    return l->category == MEMLEDGER_OTHER ? l->owner : ml_category_words(c->canvas, l->category);
}

static const char *hover_of(const struct chart *c, const struct ml_lifetime *l)
{
    char bytes[32], begin[32], life[32];

    return ml_canvas_printf(c->canvas, "%s, %s%s%s%s%s on %s: %s from %s, %s %s", name_of(c, l),
                            ml_category_words(c->canvas, l->category), *l->module ? " of " : "",
                            l->module, *l->line ? " at " : "", l->line, l->device,
                            ml_format_bytes(bytes, (int64_t)l->bytes, c->opts->unit),
                            ml_format_duration_ns(begin, (int64_t)l->begin_ns),
                            l->ended ? "for" : "not freed for",
                            ml_format_duration_ns(life, (int64_t)(l->end_ns - l->begin_ns)));
}

/* An arrow at the end of a block that was not freed. */
static void draw_arrow(const struct chart *c, double x, double y, double height)
{
    const struct ml_pen pen = {.fill = ML_INK_TEXT};

    ml_draw_begin(c->canvas, &pen);
    ml_draw_move(c->canvas, x + 1, y);
    ml_draw_to(c->canvas, x + 1 + height / 2, y + height / 2);
    ml_draw_to(c->canvas, x + 1, y + height);
    ml_draw_close(c->canvas);
}

/* The size is written in the bar, else after it, else before it. */
static void draw_size(const struct chart *c, const struct ml_lifetime *l, double x0, double x1,
                      double y)
{
    struct ml_lettering letters = {.size = LETTERS_PX - 1, .halo = true};
    char bytes[32];
    double width;

    ml_format_bytes(bytes, (int64_t)l->bytes, c->opts->unit);
    width = ml_text_width(bytes, letters.size, false);
    if (x1 - x0 >= width + 8) {
        letters.halo = false;
        ml_draw_text(c->canvas, &letters, x0 + 4, y, bytes);
    } else if (x1 + 12 + width < c->frame.right) {
        ml_draw_text(c->canvas, &letters, x1 + (l->ended ? 4 : 12), y, bytes);
    } else {
        letters.anchor = ML_ANCHOR_END;
        ml_draw_text(c->canvas, &letters, x0 - 4, y, bytes);
    }
}

static void draw_block(const struct chart *c, size_t i)
{
    const struct ml_lifetime *l = &c->lifetimes->list.items[i];
    const struct ml_lettering name = {.size = LETTERS_PX, .anchor = ML_ANCHOR_END};
    struct ml_pen pen = ml_part_pen(l->category);
    double y = c->frame.top + (double)i * c->row_px, height = c->row_px * 0.78;
    double x0 = fmax(ml_frame_x(&c->frame, (double)l->begin_ns), c->frame.left);
    double x1 = fmin(ml_frame_x(&c->frame, (double)l->end_ns), c->frame.right);
    double base = y + c->row_px / 2 + LETTERS_PX * 0.33;

    x1 = x1 < x0 + SHORTEST_PX ? x0 + SHORTEST_PX : x1;
    pen.hover = hover_of(c, l);
    pen.stroke = ML_INK_AXIS;
    pen.width = 0.7;
    ml_draw_box(c->canvas, &pen, x0, y + c->row_px * 0.11, x1 - x0, height);
    if (!l->ended)
        draw_arrow(c, x1, y + c->row_px * 0.3, c->row_px * 0.4);
    if (c->row_px < LETTERS_PX)
        return;
    ml_draw_text_within(c->canvas, &name, c->frame.left - 8, base,
                        c->frame.left - 8 - ML_PLOT_MARGIN_PX, name_of(c, l));
    draw_size(c, l, x0, x1, base);
}

/* ---- The picture ------------------------------------------------------- */

static double legend(const struct chart *c, double y)
{
    struct ml_legend_entry entries[ML_CATEGORIES];
    size_t count = 0;

    for (size_t i = 0; i < ML_CATEGORIES; i++) {
        size_t category = ml_category_order[i];
        bool occurs = false;

        for (size_t k = 0; k < c->lifetimes->list.len; k++)
            occurs |= c->lifetimes->list.items[k].category == category;
        if (occurs)
            entries[count++] =
                (struct ml_legend_entry){.name = ml_category_words(c->canvas, category),
                                         .value = "",
                                         .pen = ml_part_pen(category)};
    }
    return ml_legend(c->canvas, entries, count, ML_PLOT_MARGIN_PX,
                     (double)c->opts->width - ML_PLOT_MARGIN_PX, y, true);
}

static double names_px(const struct chart *c)
{
    double widest = 0, most = NAMES_SHARE * (double)c->opts->width;

    for (size_t i = 0; i < c->lifetimes->list.len; i++) {
        double width = ml_text_width(name_of(c, &c->lifetimes->list.items[i]), LETTERS_PX, false);

        widest = width > widest ? width : widest;
    }
    return widest < most ? widest : most;
}

static void place(struct chart *c, double y)
{
    double rows = (double)(c->lifetimes->list.len ? c->lifetimes->list.len : 1);

    if (c->opts->height == 0)
        c->canvas->height = (unsigned)(y + rows * ROW_PX + ML_PLOT_AXIS_BELOW_PX + 6);
    ml_frame_place(&c->frame, c->canvas, y);
    c->frame.left = ML_PLOT_MARGIN_PX + names_px(c) + 10;
    c->row_px = (c->frame.bottom - c->frame.top) / rows;
    c->row_px = c->row_px < ROW_MIN_PX   ? ROW_MIN_PX
                : c->row_px > 2 * ROW_PX ? 2 * ROW_PX
                                         : c->row_px;
    ml_frame_time(&c->frame, c->canvas, c->opts, c->lifetimes->from_ns,
                  c->lifetimes->to_ns - c->lifetimes->from_ns, "events");
}

static void draw_grid(const struct chart *c)
{
    const struct ml_pen grid = {.stroke = ML_INK_GRID, .width = 1};
    double at;

    for (int i = 0; ml_frame_mark(&c->frame, i, &at); i++) {
        double x = ml_frame_x(&c->frame, at);

        ml_draw_line(c->canvas, &grid, x, c->frame.top, x, c->frame.bottom);
    }
}

void ml_plot_lifetimes(struct ml_canvas *canvas, const struct ml_lifetimes *lifetimes,
                       const struct ml_plot_opts *opts)
{
    struct chart c = {.canvas = canvas, .lifetimes = lifetimes, .opts = opts};
    char shown[32], all[32];
    const char *subtitle = ml_canvas_printf(
        canvas, "the %s largest of %s block%s, from allocation to free; an arrow: not freed",
        ml_format_count(shown, (int64_t)lifetimes->list.len),
        ml_format_count(all, (int64_t)lifetimes->blocks), lifetimes->blocks == 1 ? "" : "s");
    double y = ml_frame_title(canvas, opts, subtitle);

    canvas->description = subtitle;
    y = legend(&c, y + ML_TEXT_PX);
    place(&c, y - ML_TEXT_PX + 4);
    draw_grid(&c);
    for (size_t i = 0; i < lifetimes->list.len; i++)
        draw_block(&c, i);
    ml_frame_time_axis(canvas, &c.frame);
}
