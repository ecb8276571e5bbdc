/* plot_segments.c: see plots.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "plots.h"

#include <math.h>

#include "category_columns.h"

#define HIGHEST_PX 46 /* row of the largest segment … */
#define DOUBLE_PX 4   /* … less for each halving of the size … */
#define LOWEST_PX 16  /* … but not below */
#define GAP_PX 5
#define LETTERS_PX 12
#define NAMES_PX 130
#define FIGURES_PX 250
#define NARROWEST_PX 0.25

struct picture {
    struct ml_canvas *canvas;
    const struct ml_segment_map *map;
    const struct ml_plot_opts *opts;
    double left, right, top;
    uint64_t largest;
    bool used[ML_CATEGORIES];
};

static double height_of(const struct picture *p, const struct ml_segment *s)
{
    double less = DOUBLE_PX * log2((double)p->largest / (double)s->bytes);

    return less < HIGHEST_PX - LOWEST_PX ? HIGHEST_PX - less : LOWEST_PX;
}

/* ---- One segment ------------------------------------------------------- */

static void draw_block(struct picture *p, const struct ml_segment *s,
                       const struct ml_segment_block *b, double y, double height)
{
    double scale = (p->right - p->left) / (double)s->bytes;
    double x = p->left + (double)b->offset * scale, width = (double)b->bytes * scale;
    const struct ml_lettering letters = {.size = LETTERS_PX - 1};
    struct ml_pen pen = ml_part_pen(b->category);
    const char *words = ml_category_words(p->canvas, b->category);
    char bytes[32];

    p->used[b->category] = true;
    if (width < NARROWEST_PX)
        return;
    ml_format_bytes(bytes, (int64_t)b->bytes, p->opts->unit);
    pen.hover = ml_canvas_printf(p->canvas, "%s%s%s: %s", *b->name ? b->name : words,
                                 *b->name ? ", " : "", *b->name ? words : "", bytes);
    pen.stroke = ML_INK_PAPER;
    pen.width = width < 4 ? 0.2 : 0.7;
    ml_draw_box(p->canvas, &pen, x, y, width, height);
    if (*b->name)
        ml_draw_text_within(p->canvas, &letters, x + 3, y + height / 2 + LETTERS_PX * 0.33,
                            width - 5, b->name);
}

static void draw_names(const struct picture *p, const struct ml_segment *s, double base)
{
    const struct ml_lettering name = {.size = LETTERS_PX, .anchor = ML_ANCHOR_END};
    const struct ml_lettering figures = {.size = LETTERS_PX, .ink = ML_INK_QUIET};
    char bytes[32], slack[32], hole[32];
    const char *text;

    ml_format_bytes(bytes, (int64_t)s->bytes, p->opts->unit);
    ml_draw_text_within(p->canvas, &name, p->left - 8, base, p->left - 8 - ML_PLOT_MARGIN_PX,
                        ml_canvas_printf(p->canvas, "%s  %s", s->device, bytes));
    if (s->slack_bytes == 0)
        text = "full";
    else
        text = ml_canvas_printf(p->canvas, "slack %s (%.0f %%), hole %s",
                                ml_format_bytes(slack, (int64_t)s->slack_bytes, p->opts->unit),
                                s->slack_percent,
                                ml_format_bytes(hole, (int64_t)s->largest_hole, p->opts->unit));
    ml_draw_text_within(p->canvas, &figures, p->right + 8, base, FIGURES_PX - 8, text);
}

static double draw_segment(struct picture *p, const struct ml_segment *s, double y)
{
    struct ml_pen ground = {.fill = ML_INK_PAPER, .stroke = ML_INK_AXIS, .width = 1};
    const struct ml_pen edge = {.stroke = ML_INK_AXIS, .width = 1};
    double height = height_of(p, s);
    char bytes[32];

    ml_format_bytes(bytes, (int64_t)s->bytes, p->opts->unit);
    ground.hover =
        ml_canvas_printf(p->canvas, "%s of process %u at 0x%llx, %s: %s, %zu blocks", s->device,
                         s->pid, (unsigned long long)s->addr, s->space, bytes, s->count);
    ml_draw_box(p->canvas, &ground, p->left, y, p->right - p->left, height);
    for (size_t i = 0; i < s->count; i++)
        draw_block(p, s, &p->map->blocks.items[s->first + i], y, height);
    ml_draw_box(p->canvas, &edge, p->left, y, p->right - p->left, height);
    draw_names(p, s, y + height / 2 + LETTERS_PX * 0.36);
    return y + height + GAP_PX;
}

/* ---- The picture ------------------------------------------------------- */

static void note_categories(struct picture *p)
{
    for (size_t i = 0; i < p->map->list.len; i++) {
        const struct ml_segment *s = &p->map->list.items[i];

        p->largest = ml_max_u64(p->largest, s->bytes);
        for (size_t k = 0; k < s->count; k++)
            p->used[p->map->blocks.items[s->first + k].category] = true;
    }
}

static double legend(const struct picture *p, double y)
{
    struct ml_legend_entry entries[ML_CATEGORIES + 1];
    size_t count = 0;

    for (size_t i = 0; i < ML_CATEGORIES; i++)
        if (p->used[ml_category_order[i]])
            entries[count++] =
                (struct ml_legend_entry){.name = ml_category_words(p->canvas, ml_category_order[i]),
                                         .value = "",
                                         .pen = ml_part_pen(ml_category_order[i])};
    entries[count++] =
        (struct ml_legend_entry){.name = "hole",
                                 .value = "",
                                 .pen = {.fill = ML_INK_PAPER, .stroke = ML_INK_AXIS, .width = 1}};
    return ml_legend(p->canvas, entries, count, ML_PLOT_MARGIN_PX,
                     (double)p->opts->width - ML_PLOT_MARGIN_PX, y, true);
}

static const char *subtitle_of(const struct picture *p)
{
    const struct ml_segment_map *m = p->map;
    char bytes[32], slack[32], hole[32], count[32];

    return ml_canvas_printf(
        p->canvas, "%s in %s segment%s: slack %s (%.1f %%), %zu hole%s, the largest %s; %s",
        ml_format_bytes(bytes, (int64_t)m->bytes, p->opts->unit),
        ml_format_count(count, (int64_t)m->segments), m->segments == 1 ? "" : "s",
        ml_format_bytes(slack, (int64_t)m->slack_bytes, p->opts->unit), m->slack_percent,
        (size_t)m->holes, m->holes == 1 ? "" : "s",
        ml_format_bytes(hole, (int64_t)m->largest_hole, p->opts->unit),
        ml_frame_instant(p->canvas, &m->at, p->opts->unit));
}

static double rows_px(const struct picture *p)
{
    double sum = 0;

    for (size_t i = 0; i < p->map->list.len; i++)
        sum += height_of(p, &p->map->list.items[i]) + GAP_PX;
    return sum;
}

void ml_plot_segments(struct ml_canvas *canvas, const struct ml_segment_map *map,
                      const struct ml_plot_opts *opts)
{
    const struct ml_lettering quiet = {.ink = ML_INK_QUIET};
    struct picture p = {.canvas = canvas,
                        .map = map,
                        .opts = opts,
                        .left = ML_PLOT_MARGIN_PX + NAMES_PX,
                        .right = (double)opts->width - FIGURES_PX};
    double y = ml_frame_title(canvas, opts, subtitle_of(&p));

    if (p.right < p.left + 50)
        p.right = p.left + 50;
    note_categories(&p);
    canvas->description = subtitle_of(&p);
    y = legend(&p, y + ML_TEXT_PX) - ML_TEXT_PX + 4;
    if (opts->height == 0)
        canvas->height = (unsigned)(y + rows_px(&p) + ML_PLOT_LINE_PX + ML_PLOT_MARGIN_PX);
    for (size_t i = 0; i < map->list.len; i++)
        y = draw_segment(&p, &map->list.items[i], y);
    if (map->list.len < map->segments)
        ml_draw_text(canvas, &quiet, p.left, y + ML_TEXT_PX,
                     ml_canvas_printf(canvas, "and %zu more; --top shows them",
                                      map->segments - map->list.len));
}
