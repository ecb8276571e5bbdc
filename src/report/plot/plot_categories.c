/* plot_categories.c: see plots.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "plots.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "event_names.h"

#define CELL_PX 420 /* height of a chart, names included */
#define NAME_PX 26  /* above it */
#define LETTERS_PX 12
#define LONGEST_PX 150 /* names below the bars, if they are upright */
#define SHARE_DEGREES (-60)
#define SHARE_PX 50 /* above the highest bar, for its share */
#define FLAT_SHARE_PX 24
#define BAR_SHARE 0.72 /* of the width that a bar has */
#define WIDEST_PX 120

struct charts {
    struct ml_canvas *canvas;
    const struct ml_plot_opts *opts;
    const struct ml_category_chart *list;
    size_t count;
    const struct ml_category_look *look;
    double width;     /* of a chart */
    double names_px;  /* below the bars of each … */
    bool across;      /* … where names fit across … */
    unsigned lines;   /* … in so many lines … */
    bool shares_flat; /* … as shares do above */
    bool ours;        /* all bars are memledger's own categories */
};

static bool is_shown(const struct charts *c, const struct ml_group *group)
{
    return c->look->min_percent <= 0 || group->percent > c->look->min_percent;
}

static size_t count_shown(const struct charts *c, const struct ml_grouping *g)
{
    size_t count = 0;

    for (size_t i = 0; i < g->groups.len; i++)
        count += is_shown(c, &g->groups.items[i]);
    return count;
}

/* ---- One bar ----------------------------------------------------------- */

/* Whether no earlier group, in any chart, has its name. */
static bool is_first_of_name(const struct charts *c, size_t chart, size_t group)
{
    const char *name = c->list[chart].grouping->groups.items[group].name;

    for (size_t i = 0; i <= chart; i++)
        for (size_t k = 0; k < (i < chart ? c->list[i].grouping->groups.len : group); k++)
            if (strcmp(c->list[i].grouping->groups.items[k].name, name) == 0)
                return false;
    return true;
}

/* A category looks the same in every chart: names are numbered by their first occurrence. */
static size_t number_of(const struct charts *c, const char *name)
{
    size_t number = 0;

    for (size_t i = 0; i < c->count; i++)
        for (size_t k = 0; k < c->list[i].grouping->groups.len; k++) {
            if (strcmp(c->list[i].grouping->groups.items[k].name, name) == 0)
                return number;
            number += is_first_of_name(c, i, k);
        }
    return number;
}

/* The number of the category with this name or its plural, "Parameters"; else
 * ML_CATEGORIES. */
static size_t category_called(const struct charts *c, const char *name)
{
    size_t len = strlen(name);

    if (len > 0 && name[len - 1] == 's')
        len--;
    for (size_t i = 0; i < ML_CATEGORIES; i++) {
        const char *words = ml_category_words(c->canvas, i);

        if (strlen(words) == len && strncasecmp(words, name, len) == 0)
            return i;
    }
    return ML_CATEGORIES;
}

static bool all_are_ours(const struct charts *c)
{
    bool ours = true;

    for (size_t i = 0; i < c->count; i++)
        for (size_t k = 0; k < c->list[i].grouping->groups.len; k++) {
            const struct ml_group *g = &c->list[i].grouping->groups.items[k];

            ours &=
                g->is_others || g->is_untrackable || category_called(c, g->name) < ML_CATEGORIES;
        }
    return ours;
}

/* Our categories look as they do in all pictures. */
static size_t part_of(const struct charts *c, const struct ml_group *group)
{
    return c->ours ? category_called(c, group->name)
                   : 1 + number_of(c, group->name) % (ML_PARTS_MAX - 1);
}

static struct ml_pen pen_of(const struct charts *c, const struct ml_group *group)
{
    struct ml_pen pen = ml_part_pen(part_of(c, group));

    pen.stroke = ML_INK_AXIS;
    pen.width = 0.8;
    if (group->is_others || group->is_untrackable) {
        pen.fill = ML_INK_WHITE;
        pen.hatch = group->is_untrackable ? ML_HATCH_RISING : ML_HATCH_NONE;
    }
    return pen;
}

/* The best place to break a name into two lines: the blank nearest its middle. Its
 * length if it has none. */
static size_t break_of(const char *name)
{
    size_t len = strlen(name), best = len;

    for (size_t i = 1; i + 1 < len; i++)
        if (name[i] == ' ' && llabs((long long)(2 * i) - (long long)len) <
                                  llabs((long long)(2 * best) - (long long)len))
            best = i;
    return best;
}

/* The widest of the two lines. */
static double broken_px(const struct charts *c, const char *name)
{
    size_t at = break_of(name);
    const char *first = ml_canvas_printf(c->canvas, "%.*s", (int)at, name);

    return fmax(ml_text_width(first, LETTERS_PX, false),
                name[at] ? ml_text_width(name + at + 1, LETTERS_PX, false) : 0);
}

/* Below its bar: across if that fits, in two lines if necessary, else
 * upwards. */
static void draw_name(const struct charts *c, const struct ml_group *group, double middle,
                      double room, double bottom)
{
    struct ml_lettering letters = {.size = LETTERS_PX, .anchor = ML_ANCHOR_MIDDLE};

    if (c->across) {
        size_t at = c->lines == 1 || ml_text_width(group->name, LETTERS_PX, false) <= room - 4
                        ? strlen(group->name)
                        : break_of(group->name);

        ml_draw_text(c->canvas, &letters, middle, bottom + 6 + LETTERS_PX,
                     ml_canvas_printf(c->canvas, "%.*s", (int)at, group->name));
        if (group->name[at])
            ml_draw_text(c->canvas, &letters, middle, bottom + 9 + 2 * LETTERS_PX,
                         group->name + at + 1);
        return;
    }
    letters.anchor = ML_ANCHOR_END;
    letters.degrees = -90;
    ml_draw_text_within(c->canvas, &letters, middle + LETTERS_PX * 0.36, bottom + 8, LONGEST_PX,
                        group->name);
}

static void draw_bar(const struct charts *c, const struct ml_plot_area *area,
                     const struct ml_group *group, double middle, double room)
{
    double width = fmin(room * BAR_SHARE, WIDEST_PX);
    double top = ml_frame_y(area, group->bytes > 0 ? (double)group->bytes : 0);
    struct ml_lettering share = {.size = LETTERS_PX, .degrees = SHARE_DEGREES};
    struct ml_pen pen = pen_of(c, group);
    const char *percent = ml_canvas_printf(c->canvas, "%.2f%%", group->percent);
    char bytes[32];

    ml_format_bytes(bytes, group->bytes, c->opts->unit);
    pen.hover = ml_canvas_printf(c->canvas, "%s: %s, %s", group->name, bytes, percent);
    ml_draw_box(c->canvas, &pen, middle - width / 2, top, width, area->bottom - top);
    if (c->shares_flat) {
        share.degrees = 0;
        share.anchor = ML_ANCHOR_MIDDLE;
    }
    ml_draw_text(c->canvas, &share, middle, top - 6, percent);
}

/* ---- One chart --------------------------------------------------------- */

static double room_of(const struct charts *c, const struct ml_grouping *g)
{
    size_t count = count_shown(c, g);

    return (c->width - ML_PLOT_AXIS_LEFT_PX) / (double)(count ? count : 1);
}

/* All charts have their axis at one height, so that bars can be compared. */
static void measure(struct charts *c)
{
    double longest = 0;

    c->across = c->shares_flat = true;
    c->lines = 1;
    for (size_t i = 0; i < c->count; i++) {
        const struct ml_grouping *g = c->list[i].grouping;
        double room = room_of(c, g);

        c->shares_flat &= ml_text_width("99.99%", LETTERS_PX, false) + 4 <= room;
        for (size_t k = 0; k < g->groups.len; k++) {
            const struct ml_group *group = &g->groups.items[k];
            double width = ml_text_width(group->name, LETTERS_PX, false);

            if (!is_shown(c, group))
                continue;
            c->across &= broken_px(c, group->name) <= room - 4;
            c->lines = width > room - 4 ? 2 : c->lines;
            longest = fmax(longest, width);
        }
    }
    c->names_px = c->across ? (LETTERS_PX + 3) * c->lines + 11 : fmin(longest, LONGEST_PX) + 14;
}

/* Bytes of the largest category. */
static double highest_of(const struct charts *c, const struct ml_grouping *g)
{
    double highest = 0;

    for (size_t i = 0; i < g->groups.len; i++)
        if (is_shown(c, &g->groups.items[i]))
            highest = fmax(highest, (double)g->groups.items[i].bytes);
    return highest;
}

static double highest_of_all(const struct charts *c)
{
    double highest = 0;

    for (size_t i = 0; i < c->count; i++)
        highest = fmax(highest, highest_of(c, c->list[i].grouping));
    return highest;
}

static void draw_bars(const struct charts *c, const struct ml_plot_area *area,
                      const struct ml_grouping *g)
{
    double room = room_of(c, g), middle = area->left + room / 2;

    for (size_t i = 0; i < g->groups.len; i++) {
        const struct ml_group *group = &g->groups.items[i];

        if (!is_shown(c, group))
            continue;
        draw_bar(c, area, group, middle, room);
        draw_name(c, group, middle, room, area->bottom);
        middle += room;
    }
}

static void draw_chart(const struct charts *c, const struct ml_category_chart *chart, double x,
                       double y, double height)
{
    const struct ml_lettering name = {.bold = true};
    const struct ml_lettering quiet = {.ink = ML_INK_QUIET};
    struct ml_plot_area area = {.left = x + ML_PLOT_AXIS_LEFT_PX - ML_PLOT_MARGIN_PX,
                                .right = x + c->width - ML_PLOT_MARGIN_PX,
                                .top = y + (*chart->name ? NAME_PX : 4)};
    double highest = c->look->own_axes ? highest_of(c, chart->grouping) : highest_of_all(c);
    char bytes[32];

    area.bottom = y + height - c->names_px;
    area.bytes = ml_scale_bytes((uint64_t)highest, 6, c->opts->unit);
    area.bytes.end *=
        1 + (c->shares_flat ? FLAT_SHARE_PX : SHARE_PX) / fmax(area.bottom - area.top, 10);
    if (*chart->name) {
        double behind = x + 12 + ml_text_width(chart->name, ML_TEXT_PX, true);

        ml_draw_text_within(c->canvas, &name, x, y + ML_TEXT_PX, c->width - 12, chart->name);
        ml_format_bytes(bytes, (int64_t)chart->grouping->total_bytes, c->opts->unit);
        ml_draw_text_within(c->canvas, &quiet, behind, y + ML_TEXT_PX, x + c->width - behind - 12,
                            ml_canvas_printf(c->canvas, "total %s", bytes));
    }
    ml_frame_byte_axis(c->canvas, &area, "memory");
    draw_bars(c, &area, chart->grouping);
}

/* ---- The picture ------------------------------------------------------- */

static void describe(const struct charts *c)
{
    const char *text = "Memory by category.";
    char bytes[32];

    for (size_t i = 0; i < c->count; i++)
        for (size_t k = 0; k < c->list[i].grouping->groups.len; k++) {
            const struct ml_group *group = &c->list[i].grouping->groups.items[k];

            if (is_shown(c, group))
                text = ml_canvas_printf(c->canvas, "%s %s%s%s: %s, %.2f %%.", text, c->list[i].name,
                                        *c->list[i].name ? ", " : "", group->name,
                                        ml_format_bytes(bytes, group->bytes, c->opts->unit),
                                        group->percent);
        }
    c->canvas->description = text;
}

void ml_plot_categories(struct ml_canvas *canvas, const struct ml_category_chart *charts,
                        size_t count, const struct ml_category_look *look,
                        const struct ml_plot_opts *opts)
{
    struct charts c = {
        .canvas = canvas, .opts = opts, .list = charts, .count = count, .look = look};
    size_t columns = count > 0 ? (size_t)ceil(sqrt((double)count)) : 1;
    size_t rows = (count + columns - 1) / columns;
    double top = ml_frame_title(canvas, opts, look->subtitle) + 8, height;

    if (opts->height == 0)
        canvas->height = (unsigned)(top + (double)rows * CELL_PX + ML_PLOT_MARGIN_PX);
    c.width = ((double)canvas->width - 2 * ML_PLOT_MARGIN_PX) / (double)columns;
    height = ((double)canvas->height - top - ML_PLOT_MARGIN_PX) / (double)(rows ? rows : 1);
    c.ours = all_are_ours(&c);
    measure(&c);
    describe(&c);
    for (size_t i = 0; i < count; i++) {
        size_t column = i % columns, row = i / columns;

        draw_chart(&c, &charts[i], ML_PLOT_MARGIN_PX + (double)column * c.width,
                   top + (double)row * height, height - 10);
    }
}
