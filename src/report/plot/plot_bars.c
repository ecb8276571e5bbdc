/* plot_bars.c: see plots.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "plots.h"

#include <math.h>
#include <string.h>

#define LABEL_PERCENT 5              /* smaller shares have no label beside the bar */
#define BAR_SHARE 0.09               /* of the width of the area */
#define LEGEND_LEAST 0.3             /* of the width of a bar with its text */
#define LEGEND_GAPS_PX (28 + 24 + 2) /* box, columns and bar */
#define BAR_LEAST_PX 40
#define GAP_PX 12
#define BRACKET_PX 6
#define LABEL_GAPS_PX (2 * BRACKET_PX + 8 + 2)
#define NARROW_PX 330 /* for a bar and its text: no room for a legend */
#define LETTERS_PX 12
#define LABEL_PX (LETTERS_PX + 3)
#define BELOW_PX 40

struct bars {
    struct ml_canvas *canvas;
    const struct ml_grouping *list;
    size_t count;
    const struct ml_plot_opts *opts;
    struct ml_plot_area frame;
};

/* The layout of one bar. */
struct place {
    double bar, bar_px; /* left edge, width */
    double legend, legend_px;
    double label, label_px; /* left edge of the text beside it */
    bool labels_right;      /* of the bar */
};

/* ---- Segments ---------------------------------------------------------- */

static struct ml_pen pen_of(const struct ml_grouping *g, size_t i)
{
    const struct ml_group *group = &g->groups.items[i];
    struct ml_pen pen = {.stroke = ML_INK_AXIS, .width = 0.8};
    size_t greys = 0, grey;

    if (group->is_others || group->is_untrackable) {
        pen.fill = ML_INK_WHITE;
        pen.hatch = group->is_untrackable ? ML_HATCH_RISING : ML_HATCH_NONE;
        return pen;
    }
    for (size_t k = 1; k < g->groups.len; k++)
        greys += !g->groups.items[k].is_others && !g->groups.items[k].is_untrackable;
    grey = greys > 1 ? (i - 1) * (ML_GREYS_MAX - 1) / (greys - 1) : 2;
    pen.fill = i == 0 ? ML_INK_RED : (enum ml_ink)(ML_INK_GREY + grey);
    return pen;
}

static double height_of(const struct bars *b, const struct ml_group *group)
{
    return group->bytes > 0 ? b->frame.bottom - ml_frame_y(&b->frame, (double)group->bytes) : 0;
}

static double sum_of(const struct ml_grouping *g)
{
    double sum = 0;

    for (size_t i = 0; i < g->groups.len; i++)
        if (g->groups.items[i].bytes > 0)
            sum += (double)g->groups.items[i].bytes;
    return sum;
}

static const char *hover_of(const struct bars *b, const struct ml_group *group)
{
    char bytes[32];

    return ml_canvas_printf(b->canvas, "%s: %s, %.1f %%", group->name,
                            ml_format_bytes(bytes, group->bytes, b->opts->unit), group->percent);
}

/* ---- Labels ------------------------------------------------------------ */

static const char *label_of(const struct bars *b, const struct ml_group *group)
{
    return ml_canvas_printf(b->canvas, "%.0f%% %s", group->percent, group->name);
}

/* A bracket along the segment, and the share beside it. `y` is the position of the text. */
static void draw_label(const struct bars *b, const struct place *p, const struct ml_group *group,
                       double top, double height, double y)
{
    const struct ml_pen pen = {.stroke = ML_INK_QUIET, .width = 1};
    struct ml_lettering letters = {.size = LETTERS_PX};
    double side = p->labels_right ? 1 : -1;
    double edge = p->labels_right ? p->bar + p->bar_px + 3 : p->bar - 3;
    double middle = top + height / 2;

    ml_draw_begin(b->canvas, &pen);
    ml_draw_move(b->canvas, edge, top + 1.5);
    ml_draw_to(b->canvas, edge + side * BRACKET_PX, top + 1.5);
    ml_draw_to(b->canvas, edge + side * BRACKET_PX, top + height - 1.5);
    ml_draw_to(b->canvas, edge, top + height - 1.5);
    ml_draw_move(b->canvas, edge + side * BRACKET_PX, middle);
    ml_draw_to(b->canvas, edge + side * BRACKET_PX * 2, y - LETTERS_PX * 0.36);
    letters.anchor = p->labels_right ? ML_ANCHOR_START : ML_ANCHOR_END;
    ml_draw_text_within(b->canvas, &letters, edge + side * (2 * BRACKET_PX + 4), y,
                        p->label_px - 2 * BRACKET_PX - 8, label_of(b, group));
}

/* ---- One bar ----------------------------------------------------------- */

static void draw_bar(const struct bars *b, const struct ml_grouping *g, const struct place *p)
{
    double top = ml_frame_y(&b->frame, sum_of(g)), free_y = b->frame.top;

    for (size_t i = 0; i < g->groups.len; i++) {
        const struct ml_group *group = &g->groups.items[i];
        struct ml_pen pen = pen_of(g, i);
        double height = height_of(b, group);

        pen.hover = hover_of(b, group);
        if (height > 0)
            ml_draw_box(b->canvas, &pen, p->bar, top, p->bar_px, height);
        if (height > 0 && group->percent >= LABEL_PERCENT) {
            double y = top + height / 2 + LETTERS_PX * 0.36;

            y = y < free_y ? free_y : y;
            draw_label(b, p, group, top, height, y);
            free_y = y + LABEL_PX;
        }
        top += height;
    }
}

static void draw_legend(const struct bars *b, const struct ml_grouping *g, const struct place *p)
{
    const struct ml_lettering name = {.size = LETTERS_PX};
    const struct ml_lettering value = {
        .size = LETTERS_PX, .ink = ML_INK_QUIET, .anchor = ML_ANCHOR_END};
    const struct ml_pen ground = {.fill = ML_INK_PAPER};
    double y = b->frame.top + 6;
    char bytes[32];

    if (p->legend_px < NARROW_PX / 4.0)
        return;
    ml_draw_box(b->canvas, &ground, p->legend - 4, y - LABEL_PX, p->legend_px + 8,
                (double)g->groups.len * (LABEL_PX + 3) + 4);
    for (size_t i = 0; i < g->groups.len && y < b->frame.bottom; i++, y += LABEL_PX + 3) {
        const struct ml_group *group = &g->groups.items[i];
        struct ml_pen pen = pen_of(g, i);
        double width;

        ml_format_bytes(bytes, group->bytes, b->opts->unit);
        width = ml_text_width(bytes, LETTERS_PX, false);
        ml_draw_box(b->canvas, &pen, p->legend, y - LETTERS_PX + 2, 14, LETTERS_PX);
        ml_draw_text_within(b->canvas, &name, p->legend + 20, y, p->legend_px - 28 - width,
                            group->name);
        ml_draw_text(b->canvas, &value, p->legend + p->legend_px, y, bytes);
    }
}

/* ---- The picture ------------------------------------------------------- */

static const char *name_of(const struct bars *b, size_t i)
{
    static const char *const names[] = {"Layer", "Data structure"};

    return b->count == 2 ? names[i] : b->list[i].dictionary;
}

/* The width of the longest line of a legend, with the gaps beside it. */
static double legend_needs(const struct bars *b, size_t bar)
{
    double widest = 0;
    char bytes[32];

    for (size_t i = 0; i < b->list[bar].groups.len; i++) {
        const struct ml_group *group = &b->list[bar].groups.items[i];

        ml_format_bytes(bytes, group->bytes, b->opts->unit);
        widest = fmax(widest, ml_text_width(group->name, LETTERS_PX, false) +
                                  ml_text_width(bytes, LETTERS_PX, false));
    }
    return widest + LEGEND_GAPS_PX;
}

/* The width of the longest label, with its bracket. */
static double label_needs(const struct bars *b, size_t bar)
{
    double widest = 0;

    for (size_t i = 0; i < b->list[bar].groups.len; i++) {
        const struct ml_group *group = &b->list[bar].groups.items[i];

        if (group->percent >= LABEL_PERCENT)
            widest = fmax(widest, ml_text_width(label_of(b, group), LETTERS_PX, false));
    }
    return widest + LABEL_GAPS_PX;
}

/* Each bar gets the width of its text and an equal part of the rest; if there is not
 * enough for all texts, equal parts. */
static double left_of(const struct bars *b, size_t bar)
{
    double all = b->frame.right - b->frame.left, rest = all, left = b->frame.left;

    for (size_t i = 0; i < b->count; i++)
        rest -= legend_needs(b, i) + label_needs(b, i);
    if (rest < (BAR_LEAST_PX + GAP_PX) * (double)b->count)
        return left + all / (double)b->count * (double)bar;
    for (size_t i = 0; i < bar; i++)
        left += legend_needs(b, i) + label_needs(b, i) + rest / (double)b->count;
    return left;
}

/* A bar makes room for text, down to its least width. */
static void share_width(const struct bars *b, size_t i, double each, struct place *p)
{
    double least = fmin(BAR_LEAST_PX, p->bar_px), labels = label_needs(b, i) + GAP_PX;

    p->legend_px = legend_needs(b, i);
    p->bar_px = fmax(least, fmin(p->bar_px, each - p->legend_px - labels));
    p->legend_px = fmin(p->legend_px, fmax(each - p->bar_px - labels, each * LEGEND_LEAST));
}

/* With two bars the legends are outside and the labels between them. */
static struct place place_of(const struct bars *b, size_t i)
{
    double left = left_of(b, i), right = left_of(b, i + 1), each = right - left;
    struct place p = {.bar_px =
                          BAR_SHARE * (b->frame.right - b->frame.left) * 2 / (double)b->count};

    if (each < NARROW_PX)
        p.legend_px = 24; /* empty */
    else
        share_width(b, i, each, &p);
    p.label_px = each - p.bar_px - p.legend_px - GAP_PX;
    p.labels_right = b->count != 2 || i == 0;
    if (p.labels_right) {
        p.legend = left + 10;
        p.legend_px -= 24;
        p.bar = left + p.legend_px + 34;
    } else {
        p.legend_px -= 14;
        p.legend = right - p.legend_px;
        p.bar = p.legend - 20 - p.bar_px;
    }
    return p;
}

static void describe(const struct bars *b)
{
    const char *text = "";
    char bytes[32];

    for (size_t i = 0; i < b->count; i++) {
        text = ml_canvas_printf(b->canvas, "%s%s%s:", text, i ? " " : "", name_of(b, i));
        for (size_t k = 0; k < b->list[i].groups.len; k++) {
            const struct ml_group *group = &b->list[i].groups.items[k];

            text = ml_canvas_printf(b->canvas, "%s %s %s, %.0f %%%s", text, group->name,
                                    ml_format_bytes(bytes, group->bytes, b->opts->unit),
                                    group->percent, k + 1 < b->list[i].groups.len ? ";" : ".");
        }
    }
    b->canvas->description = text;
}

void ml_plot_bars(struct ml_canvas *canvas, const struct ml_grouping *bars, size_t count,
                  const char *subtitle, const struct ml_plot_opts *opts)
{
    const struct ml_lettering below = {.bold = true, .anchor = ML_ANCHOR_MIDDLE};
    struct bars b = {.canvas = canvas, .list = bars, .count = count, .opts = opts};
    double top = ml_frame_title(canvas, opts, subtitle), highest = 0;

    for (size_t i = 0; i < count; i++)
        highest = fmax(highest, sum_of(&bars[i]));
    describe(&b);
    b.frame.bytes = ml_scale_bytes((uint64_t)highest, 8, opts->unit);
    ml_frame_place(&b.frame, canvas, top + 8);
    b.frame.bottom = (double)canvas->height - BELOW_PX;
    ml_frame_byte_axis(canvas, &b.frame, "memory");
    for (size_t i = 0; i < count; i++) {
        struct place p = place_of(&b, i);

        draw_bar(&b, &bars[i], &p);
        draw_legend(&b, &bars[i], &p);
        ml_draw_text(canvas, &below, p.bar + p.bar_px / 2, b.frame.bottom + 8 + ML_TEXT_PX,
                     name_of(&b, i));
    }
}
